//! Nodes of a document whose `outputs` are `*`: the only value that the node writes, whatever its
//! name in the program.

use std::collections::HashSet;

use super::Loader;
use super::types::key;
use flow_spec::document::{ONLY_OUTPUT, Schema};
use flow_spec::{Code, FlowDocument, NodeDocument};

/// The keys to which the only outputs of nodes are written.
pub(super) fn only_outputs(flow: &FlowDocument) -> HashSet<String> {
    let nodes = flow.nodes.iter();
    let keys = nodes.filter_map(|node| node.mappings.outputs.get(ONLY_OUTPUT)?.as_str());
    keys.map(str::to_owned).collect()
}

/// Removes these keys from the optional outputs of the flow if nothing writes them, because the
/// nodes return nothing.
pub(super) fn forget_unwritten(flow: &mut FlowDocument, keys: &HashSet<String>) {
    if keys.is_empty() {
        return;
    }
    let nodes = flow.nodes.iter();
    let written = nodes.flat_map(|node| {
        let names = node.outputs.properties.keys();
        names.map(|name| key(&node.mappings.outputs, name))
    });
    let written: HashSet<&str> = written.collect();
    let (inputs, outputs) = (&flow.inputs, &mut flow.outputs);
    let required = &outputs.required;
    outputs.properties.retain(|name, _| {
        let exists = inputs.properties.contains_key(name) || written.contains(name.as_str());
        exists || !keys.contains(name) || required.contains(name)
    });
}

impl Loader<'_> {
    /// Names the only output of a node, if the document leaves that to the program. `names` are the
    /// values that the program's node writes.
    pub(super) fn name_only_output(
        &mut self,
        node: &mut NodeDocument,
        mut names: Vec<String>,
        pointer: &str,
    ) -> bool {
        if !node.outputs.properties.contains_key(ONLY_OUTPUT) {
            return false;
        }
        let adds = node.outputs.adds(ONLY_OUTPUT);
        names.sort_unstable();
        names.dedup();
        if names.len() > 1 {
            let names = names.join("`, `");
            let message = format!("`{}` writes several values: `{names}`", node.r#type);
            let help = "let it return one value, such as a struct".to_owned();
            let place = format!("{pointer}/outputs");
            self.problem(Code::Document, place, message, Some(help));
        }
        node.outputs = Schema::default();
        let key = node.mappings.outputs.remove(ONLY_OUTPUT);
        if let ([name], Some(key)) = (&names[..], key) {
            node.mappings.outputs.insert(name.clone(), key);
        }
        adds
    }
}
