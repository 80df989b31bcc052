//! YAML: what it means, and what is refused.

use flow_spec::FlowDocument;
use flow_text::{Format, read, to_yaml};
use insta::assert_snapshot;
use serde_json::json;

use crate::said;

fn yaml(text: &str) -> FlowDocument {
    match read(text.as_bytes(), Format::Yaml) {
        Ok(document) => document.into_flow(),
        Err(problems) => panic!("{problems:#?}"),
    }
}

#[test]
fn comments_and_both_styles() {
    let flow = yaml(
        "\
%YAML 1.2
---
# A flow, as people write it.
version: 2.0.0   # not a number
nodes:
- {type: a, id: a, params: {on: no, off: yes, many: [1, 2.5, 0x1f, null, ~, true]}}
- type: b
  id: b
  # between the fields
  description: >
    folded
    text

  params:
    'quoted': \"1\"
edges:
- {from: a, to: b, condition: default}
entryNodeId: a
...
",
    );
    let params = json!({ "on": "no", "off": "yes", "many": [1, 2.5, 31, null, null, true] });
    assert_eq!(json!(flow.nodes[0].params), params);
    assert_eq!(flow.nodes[1].description.as_deref(), Some("folded text\n"));
    assert_eq!(json!(flow.nodes[1].params), json!({ "quoted": "1" }));
}

/// `undo` is a word of settings and of types, and no other one.
#[test]
fn undo_nodes() {
    let text = "\
version: 2.0.0
nodes:
  - { type: charge, id: charge, settings: { undo: refund } }
  - { type: refund, id: refund }
  - { type: flow.commit, id: commit }
  - { type: flow.undo, id: undo }
edges:
  - { from: charge, to: commit, condition: default }
  - { from: commit, to: undo, condition: default }
entryNodeId: charge
";
    let flow = yaml(text);
    assert_eq!(flow.undo_nodes()["refund"][0].id, "charge");
    let written = to_yaml(&flow);
    assert!(
        written.contains("    settings:\n      undo: refund\n"),
        "{written}"
    );
    assert_eq!(yaml(&written), flow);
    // An undo node that is not there is a mistake where it is named.
    assert_snapshot!(said(text.replace("undo: refund", "undo: refnd"), Format::Yaml), @"
    3:51: there is no node `refnd` [F004]
    at /nodes/0/settings/undo
    help: did you mean `refund`?
    ");
}

#[test]
fn anchors_and_aliases() {
    let text = "\
version: 2.0.0
nodes:
  - type: fetch
    id: first
    settings: &settings
      retry: { attempts: &many 3, wait: 1s }
  - type: fetch
    id: second
    settings: *settings
  - type: fetch
    id: third
    settings: { concurrency: *many, timeout: *many }
edges: []
entryNodeId: first
";
    let flow = yaml(&text.replace(", timeout: *many", ""));
    assert_eq!(flow.nodes[0].settings, flow.nodes[1].settings);
    assert_eq!(flow.nodes[2].settings.concurrency, Some(3));
    // A problem in what an alias stands for is where it is written; one of the alias is there.
    assert_snapshot!(said(text.replace("wait: 1s", "wait: 1x"), Format::Yaml), @r#"
    6:41: "1x" is not a duration above zero [F016]
    at /nodes/0/settings/retry/wait
    help: write a number and a unit, such as "200ms" or "1m 30s"
    12:46: `timeout` is 3, and should be a duration such as "5s" [F023]
    at /nodes/2/settings/timeout
    "#);
}

#[test]
fn what_json_cannot_say() {
    let text = "\
version: !!str 2.0.0
nodes:
  - type: !custom a
    id: a
    params:
      1: number
      null: nothing
      ? [a, b]
      : list
      <<: { a: 1 }
      \"<<\": fine
      big: .inf
      small: -1e999
edges: []
";
    assert_snapshot!(said(text, Format::Yaml), @"
    1:10: there are no tags here, such as `!!str` [F023]
    at /version
    help: remove it; a string that looks like something else is written in quotes
    3:11: there are no tags here, such as `!custom` [F023]
    at /nodes/0/type
    help: remove it; a string that looks like something else is written in quotes
    6:7: this name is a number, and should be a string [F023]
    at /nodes/0/params
    help: write it in quotes
    7:7: this name is empty, and should be a string [F023]
    at /nodes/0/params
    help: write it in quotes
    8:9: this name is a list, and should be a string [F023]
    at /nodes/0/params
    10:7: YAML 1.2 does not merge objects by `<<` [F023]
    at /nodes/0/params
    help: write the fields here; an alias stands for a whole value
    12:12: neither an infinity nor `.nan` is a number here [F023]
    at /nodes/0/params/big
    help: write it in quotes if it is a string
    13:14: this number is too large [F023]
    at /nodes/0/params/small
    help: write it in quotes if it is a string
    ");
}

#[test]
fn what_is_not_one_document() {
    let all = [
        "",
        "# only a comment\n",
        "---\n",
        "version: 2.0.0\n---\nversion: 2.0.0\n",
        "nodes: [\n",
        "a: b: c\n",
        "nodes:\n\t- a\n",
        "a: *unknown\n",
        "a: &a [*a]\n",
        "- a\nb: c\n",
        "a: 'open\n",
        "text",
    ];
    let said: Vec<String> = all.iter().map(|text| said(text, Format::Yaml)).collect();
    assert_snapshot!(said.join("\n---\n"), @r#"
    1:1: there is no flow in it [F023]
    ---
    1:1: there is no flow in it [F023]
    ---
    1:4: a flow is null, and should be an object [F023]
    ---
    2:1: a second document begins here [F023]
    help: write each flow into a file of its own, or write a list of flows
    ---
    1:8: this is not YAML: unclosed bracket '[' [F023]
    ---
    1:5: this is not YAML: mapping values are not allowed in this context [F023]
    help: write the value of `a` in quotes
    ---
    2:2: this is not YAML: tabs disallowed within this context (block indentation) [F023]
    ---
    1:4: no anchor `&unknown` stands before this alias [F023]
    at /a
    1:1: there is no field `a` here [F023]
    at /a
    help: there is `version`, `namespace`, `name`, `description`, `inputs`, `outputs`, `nodes`, `edges`, `ends`, `entryNodeId`, `entryMappings`, `dependencies`
    1:1: `version` is missing [F023]
    help: write `version: "2.0.0"`
    1:1: `nodes` is missing [F023]
    help: list the flow's nodes, each with `type` and `id`: `nodes: [ … ]`
    1:1: `edges` is missing [F023]
    help: list the flow's edges, each with `from`, `to` and `condition`: `edges: [ … ]`
    ---
    1:8: this alias stands for a value that contains it [F023]
    at /a/0
    ---
    2:1: this is not YAML: while parsing a block collection, did not find expected '-' indicator [F023]
    ---
    1:4: this is not YAML: unclosed quote [F023]
    ---
    1:1: a flow is "text", and should be an object [F023]
    "#);
}
