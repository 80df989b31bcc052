//! The list of all nodes, in which flows open and close.

use flow_spec::document::{FlowDocument, NodeDocument};
use flow_spec::node_path;
use maud::{Markup, html};

use super::text::Text;
use crate::words::one_line;

pub(super) fn index(flow: &FlowDocument) -> Markup {
    html! {
        button type="button" class="pick" data-path="" { b { (Text(flow.title())) } }
        (list(flow, ""))
    }
}

fn list(flow: &FlowDocument, around: &str) -> Markup {
    html! {
        ul {
            @for node in &flow.nodes { (item(node, &node_path(around, &node.id))) }
        }
    }
}

/// Renders each node as one line of HTML, so that a comparison of two pages compares nodes.
fn item(node: &NodeDocument, path: &str) -> Markup {
    let (id, kind) = (one_line(&node.id), one_line(&node.r#type));
    let at = Text(path);
    html! {
        "\n"
        li data-words=(Text(&words(node, path))) {
            @if node.internal_flow.is_some() {
                button type="button" class="open" data-open=(at) aria-expanded="false" aria-label={ "open " (at) } { "▶" }
            }
            button type="button" class="pick" data-path=(at) {
                (Text(&id))
                @if kind != id { " " small { (Text(&kind)) } }
            }
            @if let Some(inner) = &node.internal_flow {
                div data-inside=(at) hidden { (list(inner, path)) }
            }
        }
    }
}

/// The words that a search for the node matches.
fn words(node: &NodeDocument, path: &str) -> String {
    let texts = [&node.description, &node.title, &node.group];
    let texts = texts.into_iter().flatten().chain(&node.tags);
    let words = [path, &node.r#type].into_iter();
    let words = words.chain(texts.map(String::as_str));
    let words: Vec<String> = words.map(one_line).collect();
    words.join(" ").to_lowercase()
}
