//! The flow as a tree in plain text.

use flow_spec::document::FlowDocument;

use super::words::one_line;

/// Returns a line for each node, `📦 type (id)`, with the nodes of its inner flow indented below.
///
/// # Examples
///
/// ```
/// # let text = r#"{ "version": "2.0.0", "nodes": [{ "type": "Agent", "id": "agent", "internalFlow": {
/// #   "version": "2.0.0", "nodes": [{ "type": "Search", "id": "search" }], "edges": [] } }], "edges": [] }"#;
/// # let flow = flow_spec::FlowDocument::parse(text).unwrap();
/// assert_eq!(flow_render::tree(&flow), "📦 Agent (agent)\n  📦 Search (search)\n");
/// ```
pub fn tree(flow: &FlowDocument) -> String {
    let mut text = String::new();
    level(flow, 0, &mut text);
    text
}

fn level(flow: &FlowDocument, depth: usize, text: &mut String) {
    for node in &flow.nodes {
        let indent = "  ".repeat(depth);
        let (kind, id) = (one_line(&node.r#type), one_line(&node.id));
        *text += &format!("{indent}📦 {kind} ({id})\n");
        if let Some(inner) = &node.internal_flow {
            level(inner, depth + 1, text);
        }
    }
}
