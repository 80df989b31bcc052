//! What is read is written as it was.

use flow_spec::document::SCHEMA;
use flow_spec::{FlowDocument, NodeDocument};
use proptest::prelude::*;

use crate::generate::documents;
use crate::mutate::text;

/// A document with every field that there is.
const EVERYTHING: &str = include_str!("fixtures/everything.json");

#[test]
fn fields_are_written_in_the_order_declared() {
    let flow = FlowDocument::parse(EVERYTHING).unwrap();
    assert_eq!(flow.to_json(), EVERYTHING);
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
    let fields = schema["$defs"].as_object().unwrap().values();
    let fields = fields.filter_map(|part| part.get("properties")?.as_object());
    for field in fields.flat_map(|fields| fields.keys()) {
        let name = format!("\"{field}\"");
        assert!(EVERYTHING.contains(&name), "{name} is not in the fixture");
    }
}

/// How deep the flows in it nest.
fn depth(flow: &FlowDocument) -> usize {
    let inner = flow
        .nodes
        .iter()
        .filter_map(|node| node.internal_flow.as_deref());
    inner.map(|flow| 1 + depth(flow)).max().unwrap_or(0)
}

fn nodes(flow: &FlowDocument) -> Vec<&NodeDocument> {
    let mut found = Vec::new();
    for node in &flow.nodes {
        found.push(node);
        found.extend(node.internal_flow.iter().flat_map(|flow| nodes(flow)));
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn export_load_export_is_the_identity(flow in documents()) {
        for text in [flow.to_json(), flow.to_compact_json()] {
            let again = FlowDocument::parse(&text);
            prop_assert!(again.is_ok(), "{again:?}");
            let again = again.unwrap();
            prop_assert_eq!(&again, &flow);
            prop_assert_eq!(again.to_json(), flow.to_json());
            prop_assert_eq!(again.to_compact_json(), flow.to_compact_json());
        }
    }

    #[test]
    fn a_cut_keeps_what_is_above_it(flow in documents(), limit in 0..5_usize) {
        let mut cut = flow.clone();
        cut.cut(limit);
        prop_assert_eq!(depth(&cut), depth(&flow).min(limit));
        if limit >= depth(&flow) {
            prop_assert_eq!(&cut, &flow);
        }
        let is_flow = |flow| nodes(flow).iter().filter(|node| node.is_flow()).count();
        prop_assert!(is_flow(&cut) <= is_flow(&flow));
        let mut twice = cut.clone();
        twice.cut(limit);
        prop_assert_eq!(&twice, &cut);
        prop_assert_eq!(FlowDocument::parse(&cut.to_json()), Ok(cut));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in text()) {
        if let Ok(flow) = FlowDocument::parse(&text) {
            flow.check();
            prop_assert_eq!(FlowDocument::parse(&flow.to_json()), Ok(flow));
        }
    }
}
