//! Text that would steer a terminal, turn the order of letters around or not be seen, in every
//! notation.

use flow_render as render;
use flow_spec::document::EndDocument;
use flow_spec::{Code, FlowDocument, diff, is_deceptive, visible};
use serde_json::{Map, json};

use crate::flows::{edge, node};

const TEXT: &str =
    "x\r\n\u{1b}[2K forged\t\u{9b}1A\u{7f}\u{202e}\u{2066}\u{200d}\u{2028}\u{e0041}\u{feff}y";

/// A flow that has the text wherever there can be text, in ids too: such a document is not read, but can be put together.
fn flow(text: &str) -> FlowDocument {
    let mut flow = FlowDocument::new(text, text);
    flow.description = Some(text.to_owned());
    let ask = json!({ "prompt": text, "expects": text });
    flow.nodes = vec![
        node(text, text, json!({ text: [text] })),
        node("ask", "flow.human", ask),
        node(
            "each",
            "flow.each",
            json!({ "item": text, "over": text, "body": "ask" }),
        ),
        node(
            "branch",
            "flow.branch",
            json!({ "cases": [{ "when": text, "action": text }] }),
        ),
        node(
            "race",
            "flow.first",
            json!({ "branches": [{ "steps": ["step"], "action": text }] }),
        ),
        node("step", "step", json!({})),
        node("signal", "flow.signal", json!({ "name": text })),
    ];
    flow.nodes[1].settings.undo = Some(text.to_owned());
    flow.nodes[5].settings.undo = Some("undone".to_owned());
    flow.nodes.push(node("undone", text, json!({})));
    flow.nodes[0].description = Some(text.to_owned());
    flow.nodes[0].params_omitted = vec![text.to_owned()];
    let mut outer = flow.clone();
    outer.nodes[0].internal_flow = Some(Box::new(flow));
    outer.edges = vec![edge(text, text, "branch"), edge("branch", text, "each")];
    outer.ends = vec![EndDocument {
        from: Some("branch".to_owned()),
        condition: Some(text.to_owned()),
        label: text.to_owned(),
        mappings: Map::new(),
    }];
    outer.entry_node_id = Some(text.to_owned());
    outer
}

fn assert_harmless(what: &str, text: &str, allowed: &[char]) {
    let found: Vec<char> = text
        .chars()
        .filter(|letter| is_deceptive(*letter) && !allowed.contains(letter))
        .collect();
    assert!(found.is_empty(), "{what}: {found:?}\n{text}");
}

#[test]
fn no_notation_hands_it_on() {
    let flow = flow(TEXT);
    for (what, text) in [
        ("tree", render::tree(&flow)),
        ("text", render::text(&flow)),
        ("Mermaid", render::mermaid(&flow)),
        ("DOT", render::dot(&flow)),
        ("JSON", flow.to_json()),
        ("compact JSON", flow.to_compact_json()),
    ] {
        assert_harmless(what, &text, &['\n']);
    }
    for (what, text) in [("SVG", render::svg(&flow)), ("HTML", render::html(&flow))] {
        assert_harmless(what, &text, &['\n', '\t']);
    }
    roxmltree::Document::parse(&render::svg(&flow)).expect("XML");
}

#[test]
fn it_is_shown_and_not_left_out() {
    let flow = flow(TEXT);
    let shown = r"x \u{1b}[2K forged \u{9b}1A\u{7f}\u{202e}\u{2066}\u{200d} \u{e0041}\u{feff}y";
    assert!(
        render::tree(&flow).contains(shown),
        "{}",
        render::tree(&flow)
    );
    for picture in [render::svg(&flow), render::html(&flow)] {
        assert!(picture.contains(r"\u{202e}\u{2066}\u{200d}"), "{picture}");
    }
}

/// A tree has a line for each node, a picture in DOT or Mermaid as many as with any other text.
#[test]
fn it_begins_no_line() {
    let (flow, plain) = (flow(TEXT), flow("xy"));
    for draw in [render::tree, render::text, render::mermaid, render::dot] {
        assert_eq!(
            draw(&flow).lines().count(),
            draw(&plain).lines().count(),
            "{}",
            draw(&flow)
        );
    }
}

/// JSON has it as an escape, and means the same.
#[test]
fn json_keeps_it() {
    let flow = flow(TEXT);
    let value: serde_json::Value = serde_json::from_str(&flow.to_json()).expect("JSON");
    assert_eq!(value["name"], TEXT);
    assert_eq!(value, serde_json::to_value(&flow).expect("JSON"));
    let read = FlowDocument::parse(&flow.to_json()).expect_err("no such id");
    assert_eq!(
        read,
        FlowDocument::parse(&flow.to_compact_json()).expect_err("nor here")
    );
}

#[test]
fn what_is_said_of_a_document_has_a_line_for_each_sentence() {
    let problems = FlowDocument::parse(&flow(TEXT).to_json()).expect_err("no such ids");
    let found = problems
        .iter()
        .find(|problem| problem.code == Code::Malformed);
    let found = found.expect("an id that cannot be one");
    assert!(found.message.contains(TEXT), "{}", found.message);
    for problem in &problems {
        let text = problem.to_string();
        assert_harmless("problem", &text, &['\n']);
        let lines = 1 + problem.notes.len() + usize::from(problem.help.is_some());
        assert_eq!(text.lines().count(), lines, "{text}");
    }
    let changes = diff(&flow(TEXT), &flow("xy"));
    let text = changes.to_string();
    assert_harmless("changes", &text, &['\n']);
    assert!(text.contains(&*visible(TEXT)), "{text}");
}
