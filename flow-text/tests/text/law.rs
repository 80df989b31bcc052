//! Both formats say the same.

use flow_spec::FlowDocument;
use flow_text::{Format, read, to_yaml};
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::generate::documents;

const EVERYTHING: &str =
    include_str!("../../../flow-spec/tests/documents/fixtures/everything.json");
const EXPENSE: &str =
    include_str!("../../../flow-spec/tests/documents/fixtures/expense_approval.json");

fn from_yaml(text: &str) -> FlowDocument {
    match read(text.as_bytes(), Format::Yaml) {
        Ok(document) => document.into_flow(),
        Err(problems) => panic!("{problems:#?}\n{text}"),
    }
}

#[test]
fn every_field_survives() {
    for text in [EVERYTHING, EXPENSE] {
        let flow = FlowDocument::parse(text).unwrap();
        let yaml = to_yaml(&flow);
        let again = from_yaml(&yaml);
        assert_eq!(again.to_json(), text);
        assert_eq!(to_yaml(&again), yaml);
    }
}

/// A flow whose only node has these params.
fn with_params(params: Value) -> FlowDocument {
    let mut flow = FlowDocument::parse(
        r#"{ "version": "2.0.0", "nodes": [{ "type": "a", "id": "a" }], "edges": [] }"#,
    )
    .unwrap();
    flow.nodes[0].params = params.as_object().unwrap().clone();
    flow
}

/// The YAML of these params.
fn params(params: Value) -> String {
    let text = to_yaml(&with_params(params));
    let (_, rest) = text.split_once("    params:\n").unwrap();
    let (params, _) = rest.split_once("edges: []").unwrap();
    params.replace("\n      ", "\n").trim_start().to_owned()
}

#[test]
fn quotes_stand_where_a_reader_would_see_something_else() {
    let strings = json!({
        "a": "plain words, with [brackets] and: colons",
        "b": "ends with a colon:",
        "c": "a # comment",
        "d": ["yes", "No", "on", "null", "~", "", "true", "12", "1_000", "12:30", "2026-11-24", "0x1f", "2.0.0", "1e3"],
        "e": ["&str", "[u8]", "(A, B)", "*years >= 40", "- a", "-5", "a: b", " a", "a ", "<<", "Vec<u64>", "'x'", "🏦"],
        "a key: with marks": "tab\tline\rend",
        "on": { "1": 1, "": [[], {}, [[1, 2.5], -0.0]] },
        "f": "a\u{202e}b\u{7}\u{e0001}\u{ffff}",
    });
    assert_snapshot!(params(strings.clone()), @r#"
    a: "plain words, with [brackets] and: colons"
    b: "ends with a colon:"
    c: "a # comment"
    d:
      - "yes"
      - "No"
      - "on"
      - "null"
      - "~"
      - ""
      - "true"
      - "12"
      - "1_000"
      - "12:30"
      - "2026-11-24"
      - "0x1f"
      - 2.0.0
      - "1e3"
    e:
      - "&str"
      - "[u8]"
      - (A, B)
      - "*years >= 40"
      - "- a"
      - "-5"
      - "a: b"
      - " a"
      - "a "
      - "<<"
      - Vec<u64>
      - "'x'"
      - 🏦
    "a key: with marks": "tab\tline\rend"
    "on":
      "1": 1
      "":
        - []
        - {}
        - - - 1
            - 2.5
          - -0.0
    f: "a\u202eb\u0007\U000e0001\uffff"
    "#);
    assert_eq!(
        from_yaml(&to_yaml(&with_params(strings.clone()))),
        with_params(strings)
    );
}

#[test]
fn texts_of_several_lines_stand_as_they_are() {
    let texts = json!({
        "a": "First line.\n\nSecond: with # marks\n- and \"quotes\".",
        "b": "ends with a line break\nhere\n",
        "c": ["one\ntwo"],
        "d": "  indented\nlines",
        "e": "trailing \nspace",
        "f": "\nleading",
        "g": "two at the end\n\n",
    });
    assert_snapshot!(params(texts.clone()), @r##"
    a: |-
      First line.

      Second: with # marks
      - and "quotes".
    b: |
      ends with a line break
      here
    c:
      - |-
        one
        two
    d: "  indented\nlines"
    e: "trailing \nspace"
    f: "\nleading"
    g: "two at the end\n\n"
    "##);
    assert_eq!(
        from_yaml(&to_yaml(&with_params(texts.clone()))),
        with_params(texts)
    );
}

/// Strings of the characters that mean something to YAML.
fn strings() -> impl Strategy<Value = String> {
    let tricky = "[-?:,\\[\\]{}#&*!|>'\"%@`~<=.0-9a-fnoyx+_ \t\n\r\\\\\u{85}\u{a0}\u{2028}\u{feff}\u{0}🦀é]{0,12}";
    prop_oneof![tricky, any::<String>(), "[a-z ]{1020,1030}"]
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        strings().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((strings(), inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_document_is_the_same_in_yaml(flow in documents()) {
        let yaml = to_yaml(&flow);
        let again = from_yaml(&yaml);
        prop_assert_eq!(&again, &flow);
        prop_assert_eq!(again.to_json(), flow.to_json());
        prop_assert_eq!(to_yaml(&again), yaml);
    }

    #[test]
    fn any_value_is_the_same_in_yaml(value in values()) {
        let flow = with_params(json!({ "value": value }));
        prop_assert_eq!(from_yaml(&to_yaml(&flow)).to_json(), flow.to_json());
    }

    /// JSON is what `serde_json` reads, and most of it is YAML, too.
    #[test]
    fn json_is_read_as_ever(flow in documents()) {
        for text in [flow.to_json(), flow.to_compact_json()] {
            let read = read(text.as_bytes(), Format::Json).map(|document| document.into_flow());
            prop_assert_eq!(read.as_ref(), Ok(&flow));
        }
        prop_assert_eq!(from_yaml(&flow.to_json()), flow);
    }
}
