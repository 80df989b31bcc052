//! Pictures of flows with very many nodes, and of texts in all scripts.

use flow_render as render;
use flow_spec::FlowDocument;
use flow_spec::document::EndDocument;
use serde_json::{Map, json};

use crate::flows::{DIRECTIONS, edge, node};
use crate::svg::{crossings, misplaced};

/// Nodes in a row. Each writes a key that another one far away reads, may fail, and leads back to a
/// node before it.
fn row(count: usize) -> FlowDocument {
    let mut flow = FlowDocument::new("Row", "row");
    let far = |index: usize| index.saturating_sub(count / 2);
    for index in 0..count {
        let id = format!("n{index}");
        let mut one = node(&id, "step", json!({}));
        one.outputs.insert(&format!("k{index}"), Map::new(), true);
        one.inputs
            .insert(&format!("k{}", far(index)), Map::new(), true);
        flow.nodes.push(one);
        flow.edges
            .push(edge(&id, "back", &format!("n{}", far(index))));
        if index + 1 < count {
            flow.edges
                .push(edge(&id, "default", &format!("n{}", index + 1)));
        }
        flow.ends.push(EndDocument {
            from: Some(id),
            condition: Some("error".to_owned()),
            label: format!("end {}", index % 3),
            mappings: Map::new(),
        });
    }
    flow.entry_node_id = Some("n0".to_owned());
    flow
}

/// One node that leads to all others, which end the flow.
fn fan(count: usize) -> FlowDocument {
    let mut flow = FlowDocument::new("Fan", "fan");
    let actions = (1..count).map(|index| format!("a{index}"));
    let cases = actions.map(|action| json!({ "when": "true", "action": action }));
    let params = json!({ "cases": cases.collect::<Vec<_>>(), "otherwise": "a1" });
    flow.nodes.push(node("n0", "flow.branch", params));
    for index in 1..count {
        let id = format!("n{index}");
        flow.edges.push(edge("n0", &format!("a{index}"), &id));
        flow.nodes.push(node(&id, "step", json!({})));
    }
    flow.entry_node_id = Some("n0".to_owned());
    flow
}

/// A picture of ten thousand nodes is made of as much for each node as one of a thousand. What grew
/// with the square of their number would not come to an end here.
#[test]
fn what_is_drawn_of_a_node_does_not_grow_with_the_flow() {
    for flow in [row, fan] {
        let (small, large) = (flow(1_000), flow(10_000));
        for draw in [
            render::mermaid,
            render::dot,
            render::text,
            render::tree,
            render::svg,
        ] {
            let (small, large) = (draw(&small).len(), draw(&large).len());
            assert!(large < 12 * small, "{small} and {large}");
        }
        let corners = |picture: &str| picture.matches(" Q").count();
        let (small, large) = (corners(&render::svg(&small)), corners(&render::svg(&large)));
        assert!(large < 11 * small, "{small} and {large}");
    }
}

/// A large flow is laid out in another way than a small one.
#[test]
fn nothing_lies_on_anything_else_in_a_large_flow() {
    for direction in DIRECTIONS {
        for flow in [row(250), fan(260)] {
            let picture = render::svg_in(&flow, direction);
            assert_eq!(misplaced(&picture), [] as [String; 0]);
            assert_eq!(picture.matches("data-path=").count(), flow.nodes.len());
            assert_eq!(render::svg_in(&flow, direction), picture);
        }
        let picture = render::svg_in(&row(250), direction);
        assert_eq!(crossings(&picture), [] as [String; 0]);
    }
}

/// Arrows that pass many rows take as much time as many boxes: with `dagre`, the picture of 160
/// nodes took a minute.
#[test]
fn arrows_that_pass_many_rows_need_no_more_room_in_few_boxes_than_in_many() {
    let each = |count| {
        let picture = render::svg(&row(count));
        assert_eq!(misplaced(&picture), [] as [String; 0]);
        picture.matches([' ', ',']).count() / count
    };
    let (few, many) = (each(100), each(260));
    assert!(few <= many + 10, "{few} and {many}");
}

/// What people see as one letter is cut nowhere.
#[test]
fn a_very_long_name_is_cut_between_letters() {
    let letters = ["👩\u{200d}🚀", "e\u{301}", "ی\u{200c}", "क्\u{200d}ष"];
    for letter in letters {
        let mut flow = FlowDocument::new("Long", "long");
        let long = letter.repeat(5_000);
        flow.nodes = vec![node("only", "step", json!({}))];
        flow.nodes[0].title = Some(long.clone());
        flow.ends = vec![EndDocument {
            from: Some("only".to_owned()),
            condition: Some(long.clone()),
            label: long.clone(),
            mappings: Map::new(),
        }];
        for draw in [render::mermaid, render::dot, render::text, render::svg] {
            let picture = draw(&flow);
            let (before, _) = picture.split_once('…').expect("it is cut");
            let last = letter.trim_end_matches('\u{200c}');
            assert!(before.ends_with(last), "{before}");
        }
        let picture = render::svg(&flow);
        assert!(picture.len() < 50_000, "{}", picture.len());
        assert_eq!(misplaced(&picture), [] as [String; 0]);
    }
}

/// Joiners are spelling in these texts.
#[test]
fn texts_of_all_scripts_are_shown_as_they_are_written() {
    for title in [
        "می\u{200c}خواهم بروم",
        "क्\u{200d}षमा",
        "👩\u{200d}🚀 takes off",
        "👨\u{200d}👩\u{200d}👧\u{200d}👦",
    ] {
        let mut flow = FlowDocument::new("Titles", "titles");
        flow.nodes = vec![node("only", "step", json!({}))];
        flow.nodes[0].title = Some(title.to_owned());
        for draw in [
            render::mermaid,
            render::dot,
            render::text,
            render::svg,
            render::html,
        ] {
            let picture = draw(&flow);
            assert!(picture.contains(title), "{picture}");
        }
        assert!(flow.to_json().contains(title));
    }
}

/// What people see as one letter needs the room of one.
#[test]
fn a_joined_emoji_is_as_wide_as_one() {
    let width = |title: &str| {
        let mut flow = FlowDocument::new("Width", "width");
        flow.nodes = vec![node("n", "step", json!({}))];
        flow.nodes[0].title = Some(title.repeat(10));
        let picture = render::svg(&flow);
        let tile = picture.split("class=\"body\"").nth(2).expect("a tile");
        let width = tile.split("width=\"").nth(1).expect("a width");
        width.split('"').next().map(str::to_owned)
    };
    assert_eq!(width("👨\u{200d}👩\u{200d}👧\u{200d}👦"), width("ab"));
    assert_eq!(width("👍🏽"), width("ab"));
    assert_eq!(width("می\u{200c}خ"), width("میخ"));
}
