//! The pages about documents say what is.

use std::fs;
use std::path::Path;

use flow_spec::document::{SCHEMA, types};
use flow_spec::{Code, FlowDocument, diff};
use serde_json::Value;

use crate::schema::VALIDATOR;

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs")
        .join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The blocks of a language in a page.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let begin = format!("```{language}\n");
    let blocks = page.split(&begin).skip(1);
    blocks
        .map(|rest| rest.split("```").next().unwrap_or_default().to_owned())
        .collect()
}

/// `docs/errors.md` on what only a flow JSON can have wrong: broken, what is said of it, and mended.
#[test]
fn errors_of_documents() {
    let page = page("errors.md");
    let heading = format!("\n## {} ", Code::Document);
    let section = page.split(&heading).nth(1).expect("the page has the code");
    let section = section.split("\n## ").next().unwrap_or_default();
    let (json, text) = (blocks(section, "json"), blocks(section, "text"));
    let problems = FlowDocument::parse(&json[0]).unwrap_err();
    let said: String = problems
        .iter()
        .map(|problem| format!("{problem}\n"))
        .collect();
    assert_eq!(said, text[0]);
    assert_eq!(FlowDocument::parse(&json[1]).unwrap().check(), []);
}

#[test]
fn the_example_is_written_as_flows_are() {
    let page = page("flow-json.md");
    let [example] = &blocks(&page, "json")[..] else {
        panic!("the page has one example")
    };
    let flow = FlowDocument::parse(example).unwrap();
    assert_eq!(flow.check(), []);
    assert_eq!(&flow.to_json(), example);
    assert!(VALIDATOR.is_valid(&serde_json::from_str(example).unwrap()));
}

#[test]
fn the_page_explains_every_field_and_type() {
    let page = page("flow-json.md");
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let parts = schema["$defs"].as_object().unwrap().values();
    let fields = parts.filter_map(|part| part["properties"].as_object());
    let fields = fields.flat_map(|fields| fields.keys().map(String::as_str));
    for name in fields.chain(types::ALL) {
        assert!(
            page.contains(&format!("`{name}`")),
            "`{name}` is not explained"
        );
    }
}

#[test]
fn the_diff_is_what_is_found() {
    let old = FlowDocument::parse(include_str!("fixtures/expense_approval.json")).unwrap();
    let new = FlowDocument::parse(include_str!("fixtures/expense_approval_2.json")).unwrap();
    let page = page("flow-json.md");
    assert_eq!(blocks(&page, "text"), [diff(&old, &new).to_string()]);
}
