//! The list of all nodes, in which those that are flows open and close.

use flow_spec::document::FlowDocument;
use flow_spec::node_path;

use crate::words::one_line;
use crate::xml::escaped;

pub(super) fn index(flow: &FlowDocument) -> String {
    let mut text = String::new();
    let title = escaped(flow.title());
    text +=
        &format!("<button type=\"button\" class=\"pick\" data-path=\"\"><b>{title}</b></button>\n");
    list(flow, "", &mut text);
    text
}

fn list(flow: &FlowDocument, around: &str, text: &mut String) {
    *text += "<ul>\n";
    for node in &flow.nodes {
        let path = node_path(around, &node.id);
        let (id, kind) = (
            escaped(&one_line(&node.id)),
            escaped(&one_line(&node.r#type)),
        );
        let kind = match kind == id {
            true => String::new(),
            false => format!(" <small>{kind}</small>"),
        };
        let at = escaped(&path);
        let words = [Some(&path), Some(&node.r#type), node.description.as_ref()];
        let words: Vec<String> = words
            .into_iter()
            .flatten()
            .map(|word| one_line(word))
            .collect();
        let words = escaped(&words.join(" ").to_lowercase());
        *text += &format!("<li data-words=\"{words}\">");
        if node.internal_flow.is_some() {
            *text += &format!(
                "<button type=\"button\" class=\"open\" data-open=\"{at}\" aria-expanded=\"false\" \
                 aria-label=\"open {at}\">▶</button>"
            );
        }
        *text += &format!(
            "<button type=\"button\" class=\"pick\" data-path=\"{at}\">{id}{kind}</button>"
        );
        if let Some(inner) = &node.internal_flow {
            text.push('\n');
            *text += &format!("<div data-inside=\"{at}\" hidden>\n");
            list(inner, &path, text);
            *text += "</div>\n";
        }
        *text += "</li>\n";
    }
    *text += "</ul>\n";
}
