//! The types of collections that only loops over items read.

use std::collections::HashMap;

use flow_spec::document::__private::inside;
use flow_spec::{Code, FlowDocument, NodeDocument};
use serde_json::Value;

use crate::level::Level;
use crate::list::ListType;
use crate::registry::Item;
use crate::value::ValueType;
use flow_spec::short_name;

use super::Loader;
use super::types::{Keys, key};
use super::uses::{Uses, body};

/// The prefixes of collection types that differ from a list of their items.
const NOT_LISTS: [&str; 5] = ["BTreeMap<", "HashMap<", "BTreeSet<", "HashSet<", "["];

impl Loader<'_> {
    /// Gives each input that only loops read the type of a collection of the items that their
    /// bodies read. `None` if that is not known, which is reported.
    pub(super) fn type_collections(
        &mut self,
        flow: &FlowDocument,
        (uses, pointer): (&Uses<'_>, &str),
        inner: &HashMap<usize, Level>,
        keys: &mut Keys,
    ) -> Option<()> {
        for (index, node) in flow.nodes.iter().enumerate() {
            let Some(over) = node.params.get("over").and_then(Value::as_str) else {
                continue;
            };
            if keys.index(over).is_none() || keys.ty(over).is_some() {
                continue;
            }
            let Some(list) = self.list_of_items(flow, (uses, pointer), node, inner) else {
                continue;
            };
            let text = flow.inputs.rust_type(over).map(short_name);
            let text = text.filter(|text| NOT_LISTS.iter().any(|start| text.starts_with(start)));
            let ty = match &text {
                Some(text) => self.collection(text, list.ty(false)),
                None => Some(list.ty(false)),
            };
            if ty.is_none() {
                let text = text.unwrap_or_default();
                let message = format!(
                    "`{}` loops over a `{text}`, which no registered node reads or writes",
                    node.id
                );
                let help = "register a node that reads it: the type of an item does not tell which collection \
                            it is in";
                let place = inside(&format!("{pointer}/nodes/{index}/params"), "over");
                self.problem(Code::TypeMismatch, place, message, Some(help.to_owned()));
                return None;
            }
            *keys.add(over) = ty;
        }
        Some(())
    }

    /// The collection with this name and these items, if a registered node has one.
    fn collection(&self, name: &str, list: &ValueType) -> Option<&'static ValueType> {
        let nodes = self
            .registry
            .entries()
            .filter_map(|entry| match &entry.item {
                Item::Node(adapter) => Some(adapter),
                Item::Flow(_) => None,
            });
        let mut types = nodes.flat_map(|adapter| {
            let reads = adapter.reads.iter().filter_map(|read| read.ty);
            reads.chain(adapter.writes.iter().map(|write| write.ty))
        });
        let item = |ty: &ValueType| Some((ty.items?.id)());
        types.find(|ty| item(ty) == item(list) && ty.short_name() == name)
    }

    /// The type of lists of the items that the body of a loop reads.
    fn list_of_items(
        &self,
        flow: &FlowDocument,
        (uses, pointer): (&Uses<'_>, &str),
        node: &NodeDocument,
        inner: &HashMap<usize, Level>,
    ) -> Option<&'static ListType> {
        let item = node.params.get("item")?.as_str()?;
        let index = uses.position(body(node)?)?;
        let mappings = &flow.nodes[index].mappings.inputs;
        let ty = if let Some(level) = inner.get(&index) {
            let mut inputs = level.inputs.iter();
            let input = inputs.find(|input| key(mappings, &input.name) == item)?;
            level.typed(input.key?)?
        } else {
            let adapter = self.adapters.get(&format!("{pointer}/nodes/{index}"))?;
            let mut reads = adapter.reads.iter();
            let read = reads.find(|read| key(mappings, read.name) == item)?;
            read.ty?
        };
        ty.list
    }
}
