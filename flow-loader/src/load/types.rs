//! The types of the keys of a flow: those of their writers; for an input that no node writes, that
//! of its first reader.

use std::collections::HashMap;
use std::sync::LazyLock;

use flow_runtime::NodeError;
use flow_spec::{Code, EdgeMapping, FlowDocument, Graph};
use serde_json::{Map, Value};

use crate::cell::opened_ref;
use crate::level::{Key, Level, Results, spread_results};
use crate::ports::{Addition, InBranch};
use crate::value::{Probe, ValueType};

use super::Loader;
use super::uses::{Uses, body};

/// The keys of a flow with their types, in the order of the state of a compiled flow.
#[derive(Default)]
pub(super) struct Keys {
    all: Vec<(String, Option<&'static ValueType>)>,
    by_name: HashMap<String, usize>,
    /// The additions to keys, by the position of the node and the key.
    additions: HashMap<(usize, String), Addition>,
}

impl Keys {
    pub(super) fn index(&self, key: &str) -> Option<usize> {
        self.by_name.get(key).copied()
    }

    pub(super) fn ty(&self, key: &str) -> Option<&'static ValueType> {
        self.index(key).and_then(|index| self.all[index].1)
    }

    /// The type of a key, or JSON if none is known. `None` if there is no such key.
    pub(super) fn final_type(&self, key: &str) -> Option<&'static ValueType> {
        Some(self.all[self.index(key)?].1.unwrap_or_else(any_json))
    }

    /// The addition of a node to a key. `None` if the node replaces the key's value.
    pub(super) fn addition(&self, node: usize, key: &str) -> Option<Addition> {
        self.additions.get(&(node, key.to_owned())).copied()
    }

    /// All keys with their types.
    pub(super) fn typed(&self) -> Vec<Key> {
        let key = |(name, ty): &(String, Option<&'static ValueType>)| Key {
            name: name.clone(),
            ty: ty.unwrap_or_else(any_json),
            untyped: ty.is_none(),
        };
        self.all.iter().map(key).collect()
    }

    /// Makes keys that edges map to each other share their types.
    fn type_mapped(&mut self, graph: &Graph) {
        let mut alike: HashMap<&str, Vec<&str>> = HashMap::new();
        for mapping in mappings(graph) {
            let (key, source) = (mapping.key.as_str(), mapping.source.as_str());
            alike.entry(key).or_default().push(source);
            alike.entry(source).or_default().push(key);
        }
        let mapped = mappings(graph).flat_map(|mapping| [&*mapping.key, &*mapping.source]);
        let mut typed: Vec<&str> = mapped.filter(|key| self.ty(key).is_some()).collect();
        while let Some(key) = typed.pop() {
            let ty = self.ty(key);
            for other in alike.get(key).into_iter().flatten() {
                let known = self.add(other);
                if known.is_none() {
                    *known = ty;
                    typed.push(other);
                }
            }
        }
    }

    pub(super) fn add(&mut self, key: &str) -> &mut Option<&'static ValueType> {
        let index = self.index(key).unwrap_or_else(|| {
            self.all.push((key.to_owned(), None));
            self.by_name.insert(key.to_owned(), self.all.len() - 1);
            self.all.len() - 1
        });
        &mut self.all[index].1
    }
}

/// The mappings of a flow's edges.
fn mappings(graph: &Graph) -> impl Iterator<Item = &EdgeMapping> {
    graph.edges.iter().flat_map(|edge| &edge.mappings)
}

/// The flow's key for a name of the node.
pub(super) fn key<'a>(mappings: &'a Map<String, Value>, name: &'a str) -> &'a str {
    mappings.get(name).and_then(Value::as_str).unwrap_or(name)
}

/// The type of a node's error.
fn node_error() -> &'static ValueType {
    crate::__value_type!(Probe::<NodeError>::new())
}

/// Any JSON. Unlike a value that the program declares to be JSON, a text is shown without quotes:
/// its type is just not named.
fn any_json() -> &'static ValueType {
    static ANY_JSON: LazyLock<ValueType> = LazyLock::new(|| ValueType {
        display: Some(|value| match opened_ref::<Value>(value) {
            Value::String(text) => text,
            other => other,
        }),
        ..*crate::__value_type!(Probe::<Value>::new())
    });
    &ANY_JSON
}

/// The type of an input that no node names, as its author wrote it. Lists are counted in a loop,
/// not by recursion, because an author may write any number of them.
fn of_text(rust_type: &str) -> Option<&'static ValueType> {
    let (mut item, mut lists) = (rust_type, 0);
    while let Some(inner) = list_item(item) {
        (item, lists) = (inner, lists + 1);
    }
    macro_rules! known {
        ($($ty:ty)*) => {
            match item {
                $(stringify!($ty) => crate::__value_type!(Probe::<$ty>::new()),)*
                _ => return None,
            }
        };
    }
    let ty = known!(bool char String u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);
    (0..lists).try_fold(ty, |ty, _| Some(ty.list?.ty(false)))
}

/// The type of the items, if this is the type of a list.
fn list_item(rust_type: &str) -> Option<&str> {
    rust_type.strip_prefix("Vec<")?.strip_suffix('>')
}

/// Gives inputs that no node names the types that their author wrote, and mapped keys those of each
/// other.
fn type_as_written(flow: &FlowDocument, graph: &Graph, keys: &mut Keys) {
    for (name, rust_type, _) in flow.inputs.values() {
        let ty = keys.add(name);
        *ty = ty.or_else(|| of_text(rust_type?));
    }
    keys.type_mapped(graph);
}

/// The name of the type of lists of such values.
fn list_of(ty: &ValueType) -> String {
    format!("Vec<{}>", ty.short_name())
}

impl Loader<'_> {
    /// The keys of a flow. `inner` contains the flows in it, by the positions of their nodes.
    /// `None` if the type of a key is not known, which is reported.
    pub(super) fn keys(
        &mut self,
        flow: &FlowDocument,
        uses: &Uses<'_>,
        pointer: &str,
        inner: &HashMap<usize, Level>,
        graph: &Graph,
    ) -> Option<Keys> {
        let errors = graph.nodes.iter().any(|node| node.fallible);
        let mut keys = Keys::default();
        for (name, ..) in flow.inputs.values() {
            keys.add(name);
        }
        let mut added = Vec::new();
        for (index, node) in flow.nodes.iter().enumerate() {
            for name in node
                .outputs
                .properties
                .keys()
                .filter(|_| body(node).is_some())
            {
                if node.outputs.adds(name) {
                    let ty = self.added_by_items((flow, uses), pointer, index, inner)?;
                    if node.settings.spread.is_some() {
                        let results = keys.add(&spread_results(&node.id));
                        *results = ty.list.map(|list| list.ty(false));
                    }
                    let key = key(&node.mappings.outputs, name);
                    keys.add(key);
                    added.push((index, key.to_owned(), ty));
                    continue;
                }
                let place = format!("{pointer}/nodes/{index}");
                let results = self.results(uses, pointer, node, inner);
                self.check_results((flow, uses), &place, node, inner, results)?;
                let ty = match results {
                    Results::List(list) => Some(list.ty(node.settings.collect_errors)),
                    _ => None,
                };
                self.write(&mut keys, key(&node.mappings.outputs, name), ty, place);
            }
            if errors && uses.routes(&node.id, flow_spec::ERROR_ACTION) {
                *keys.add(flow_spec::ERROR_KEY) = Some(node_error());
            }
            if uses.loop_of(&node.id).is_some() || uses.is_undo(&node.id) {
                continue;
            }
            for (name, ty) in self.written(pointer, index, inner) {
                let adds = node.outputs.adds(&name);
                let name = key(&node.mappings.outputs, &name).to_owned();
                if adds {
                    let Some(ty) = ty else {
                        let message = format!(
                            "`{}` adds to `{name}`, and nothing says of which type the value is",
                            node.id
                        );
                        let help = "let a node of the program write it".to_owned();
                        let place = format!("{pointer}/nodes/{index}");
                        self.problem(Code::Addition, place, message, Some(help));
                        return None;
                    };
                    keys.add(&name);
                    added.push((index, name, ty));
                    continue;
                }
                self.write(&mut keys, &name, ty, format!("{pointer}/nodes/{index}"));
            }
        }
        for mapping in mappings(graph) {
            keys.add(&mapping.key);
        }
        self.type_inputs(flow, uses, pointer, inner, &mut keys);
        keys.type_mapped(graph);
        self.type_collections(flow, (uses, pointer), inner, &mut keys)?;
        keys.type_mapped(graph);
        type_as_written(flow, graph, &mut keys);
        self.add_additions((flow, pointer), added, &mut keys)?;
        Some(keys)
    }

    /// The type of what a loop adds for each item. `None` if it cannot add, which is reported.
    fn added_by_items(
        &mut self,
        (flow, uses): (&FlowDocument, &Uses<'_>),
        pointer: &str,
        index: usize,
        inner: &HashMap<usize, Level>,
    ) -> Option<&'static ValueType> {
        let node = &flow.nodes[index];
        let body = body(node).and_then(|id| uses.position(id))?;
        let adapter = self.adapters.get(&format!("{pointer}/nodes/{body}"));
        let adapter =
            adapter.filter(|adapter| adapter.writes.len() == 1 && adapter.actions.len() < 2);
        let of_node = adapter.map(|adapter| adapter.outcome);
        let of_flow = inner.get(&body).and_then(|level| match &level.outputs[..] {
            [only] if level.has_one_end() && !only.optional && !level.is_untyped(only.key) => {
                only.ty.filter(|ty| ty.list.is_some())
            }
            _ => None,
        });
        let id = &flow.nodes[body].id;
        let (place, message, help) = match of_node.or(of_flow) {
            _ if node.settings.collect_errors => (
                format!("{pointer}/nodes/{index}/settings/collectErrors"),
                format!(
                    "`collectErrors` needs the results of the items, and `{}` adds them",
                    node.id
                ),
                "remove `collectErrors`, or let the loop collect its results and another node add them"
                    .to_owned(),
            ),
            Some(ty) => return Some(ty),
            None => (
                format!("{pointer}/nodes/{index}/outputs"),
                format!(
                    "`{}` cannot add what `{id}` returns: it is not one value",
                    node.id
                ),
                "let the loop collect its results, and another node add them".to_owned(),
            ),
        };
        self.problem(Code::Addition, place, message, Some(help));
        None
    }

    /// Finds an adder for each addition. A key without a type has the type that the flow's inputs
    /// or outputs name, if it can be found. `None` if a value cannot be added, which is reported.
    fn add_additions(
        &mut self,
        (flow, pointer): (&FlowDocument, &str),
        added: Vec<(usize, String, &'static ValueType)>,
        keys: &mut Keys,
    ) -> Option<()> {
        let mut are_sound = Some(());
        for (index, key, more) in added {
            let written = [&flow.inputs, &flow.outputs];
            let written = written
                .into_iter()
                .find_map(|schema| schema.rust_type(&key));
            let known = keys.add(&key);
            let own = written.and_then(|written| {
                let list = more.list.map(|list| list.ty(false));
                let mut same = [Some(more), list].into_iter().flatten();
                let same = same.find(|ty| ty.short_name() == written);
                same.or_else(|| of_text(written))
            });
            let Some(to) = known.or(own) else {
                let id = &flow.nodes[index].id;
                let (message, help) = match written {
                    Some(written) => (
                        format!(
                            "`{id}` adds to `{key}`, which is `{written}`: no node of the flow says what that is"
                        ),
                        format!("let a node read `{key}`"),
                    ),
                    None => (
                        format!("`{id}` adds to `{key}`, and nothing says of which type it is"),
                        format!(
                            "let a node read it, or say it where the flow returns it, such as `\"rustType\": \"{}\"`",
                            list_of(more)
                        ),
                    ),
                };
                let place = format!("{pointer}/nodes/{index}");
                self.problem(Code::Addition, place, message, Some(help));
                are_sound = None;
                continue;
            };
            *known = Some(to);
            let adder = more.adder_to(to);
            let adder = adder.or_else(|| self.registry.adder(more, to));
            if let Some(adder) = adder {
                let addition = Addition {
                    adder,
                    to,
                    more,
                    in_branch: InBranch::AtJoin,
                };
                keys.additions.insert((index, key), addition);
                continue;
            }
            let (more, to) = (more.short_name(), to.short_name());
            let id = &flow.nodes[index].id;
            let message =
                format!("`{id}` adds `{more}` to `{key}`, which cannot take it: it is `{to}`");
            let help = format!(
                "map it to another key, or let the program say how: `registry.accumulate::<{to}, {more}>()`"
            );
            let place = format!("{pointer}/nodes/{index}");
            self.problem(Code::Addition, place, message, Some(help));
            are_sound = None;
        }
        are_sound
    }

    /// The keys of a flow with mistakes, with the types that its registered nodes give them. Those
    /// of inner flows and loops are not known.
    pub(super) fn keys_of_nodes(
        &self,
        flow: &FlowDocument,
        uses: &Uses<'_>,
        pointer: &str,
        graph: &Graph,
    ) -> Keys {
        let (mut keys, no_inner) = (Keys::default(), HashMap::new());
        for (name, ..) in flow.inputs.values() {
            keys.add(name);
        }
        for (index, node) in flow.nodes.iter().enumerate() {
            if uses.loop_of(&node.id).is_some() || uses.is_undo(&node.id) {
                continue;
            }
            for (name, ty) in self.written(pointer, index, &no_inner) {
                let ty = ty.filter(|_| !node.outputs.adds(&name));
                let known = keys.add(key(&node.mappings.outputs, &name));
                *known = known.or(ty);
            }
        }
        self.type_inputs(flow, uses, pointer, &no_inner, &mut keys);
        keys.type_mapped(graph);
        type_as_written(flow, graph, &mut keys);
        keys
    }

    /// Gives a key the type of the value written to it. `None` if that is JSON of any type.
    fn write(
        &mut self,
        keys: &mut Keys,
        name: &str,
        ty: Option<&'static ValueType>,
        pointer: String,
    ) {
        let known = keys.add(name);
        let Some(ty) = ty else { return };
        match known {
            Some(known) if !known.is(ty) => {
                let message = format!(
                    "`{name}` is written as `{}` here, and as `{}` before",
                    ty.short_name(),
                    known.short_name()
                );
                let help = "map one of them to another key".to_owned();
                self.problem(Code::WriterTypes, pointer, message, Some(help));
            }
            _ => *known = Some(ty),
        }
    }

    /// The values that a node writes, under its own names. The type is `None` for JSON of any type.
    fn written(
        &self,
        pointer: &str,
        index: usize,
        inner: &HashMap<usize, Level>,
    ) -> Vec<(String, Option<&'static ValueType>)> {
        if let Some(level) = inner.get(&index) {
            let outputs = level.outputs.iter();
            return outputs
                .filter_map(|output| {
                    let ty = output.returned_type()?;
                    let ty = Some(ty).filter(|_| !level.is_untyped(output.key));
                    Some((output.name.clone(), ty))
                })
                .collect();
        }
        match self.adapters.get(&format!("{pointer}/nodes/{index}")) {
            Some(adapter) => adapter
                .writes
                .iter()
                .map(|write| (write.name.to_owned(), Some(write.ty)))
                .collect(),
            None => Vec::new(),
        }
    }

    /// Gives each key without a type (an input, or one written as JSON) that of its first reader.
    fn type_inputs(
        &self,
        flow: &FlowDocument,
        uses: &Uses<'_>,
        pointer: &str,
        inner: &HashMap<usize, Level>,
        keys: &mut Keys,
    ) {
        for (index, node) in flow.nodes.iter().enumerate() {
            let types: Vec<(String, &'static ValueType)> = if let Some(level) = inner.get(&index) {
                let inputs = level.inputs.iter();
                let typed =
                    inputs.filter_map(|input| Some((input.name.clone(), level.typed(input.key?)?)));
                typed.collect()
            } else if let Some(adapter) = self.adapters.get(&format!("{pointer}/nodes/{index}")) {
                adapter
                    .reads
                    .iter()
                    .filter_map(|read| Some((read.name.to_owned(), read.ty?)))
                    .collect()
            } else {
                continue;
            };
            let item = uses.item_of(&node.id);
            for (name, ty) in types {
                let name = key(&node.mappings.inputs, &name);
                // An item is not a value of the flow, even if it has the name of one.
                if item == Some(name) {
                    continue;
                }
                if let Some(known) = keys.index(name) {
                    let known = &mut keys.all[known].1;
                    *known = known.or(Some(ty));
                }
            }
        }
    }
}
