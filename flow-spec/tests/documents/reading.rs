//! What the reader says of a document that is none: everything at once, each mistake once and at
//! its place.

use flow_spec::FlowDocument;
use flow_spec::document::DEEPEST;
use insta::assert_snapshot;
use serde_json::{Value, json};

/// What is wrong, as it is printed.
fn said(text: &str) -> String {
    let problems = FlowDocument::parse(text).expect_err("the document is broken");
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// A flow of one node, with these fields put into it.
fn flow_with(fields: Value) -> String {
    let mut flow = json!({
        "version": "2.0.0",
        "nodes": [{ "type": "review", "id": "review" }],
        "edges": []
    });
    merge(&mut flow, fields);
    flow.to_string()
}

/// As [`flow_with`], with the fields put into the node.
fn node_with(fields: Value) -> String {
    let mut node = json!({ "type": "review", "id": "review" });
    merge(&mut node, fields);
    flow_with(json!({ "nodes": [node] }))
}

fn merge(object: &mut Value, fields: Value) {
    for (name, value) in fields.as_object().unwrap() {
        object[name] = value.clone();
    }
}

#[test]
fn a_misspelt_field_is_one_problem() {
    let text = r#"{ "version": "2.0.0", "nodes": [{ "type": "a", "idd": "a" }], "edgse": [] }"#;
    assert_snapshot!(said(text), @"
    /edgse: there is no field `edgse` here [F023]
    help: did you mean `edges`?
    /nodes/0/idd: there is no field `idd` here [F023]
    help: did you mean `id`?
    ");
    let two = json!({ "nodes": [{ "type": "a", "id": "a" }, { "type": "b", "id": "b" }], "entryNodeID": "a" });
    assert_snapshot!(said(&flow_with(two)), @"
    /entryNodeID: there is no field `entryNodeID` here [F023]
    help: did you mean `entryNodeId`?
    ");
    let outputs =
        json!({ "output": {}, "actions": [{ "name": "default", "writes": ["receipt"] }] });
    assert_snapshot!(said(&node_with(outputs)), @"
    /nodes/0/output: there is no field `output` here [F023]
    help: did you mean `outputs`?
    ");
}

#[test]
fn a_field_that_is_no_slip_of_the_fingers_is_told_what_there_is() {
    assert_snapshot!(said(&flow_with(json!({ "start": "review" }))), @"
    /start: there is no field `start` here [F023]
    help: there is `version`, `namespace`, `name`, `description`, `inputs`, `outputs`, `nodes`, `edges`, `ends`, `entryNodeId`, `entryMappings`, `dependencies`
    ");
}

#[test]
fn what_is_missing_is_said_with_what_to_write() {
    assert_snapshot!(said("{}"), @r#"
    /: `version` is missing [F023]
    help: write `"version": "2.0.0"`
    /: `nodes` is missing [F023]
    help: list the flow's nodes, each with `type` and `id`: `"nodes": [ … ]`
    /: `edges` is missing [F023]
    help: list the flow's edges, each with `from`, `to` and `condition`: `"edges": [ … ]`
    "#);
    assert_snapshot!(said(&flow_with(json!({ "nodes": [{}], "edges": [{}], "ends": [{}] }))), @r#"
    /nodes/0: `type` is missing [F023]
    help: name the function, type or flow that the node is: `"type": "review"`
    /nodes/0: `id` is missing [F023]
    help: name the node: `"id": "review"`
    /edges/0: `from` is missing [F023]
    help: name the node that the edge starts from
    /edges/0: `to` is missing [F023]
    help: name the node that the edge leads to
    /edges/0: `condition` is missing [F023]
    help: name the action that the edge is for: `"condition": "default"`
    /ends/0: `label` is missing [F023]
    help: name the end: `"label": "default"`
    "#);
}

#[test]
fn a_name_that_stands_twice_is_not_lost() {
    let text = r#"{
        "version": "2.0.0", "edges": [], "edges": [],
        "nodes": [{ "type": "a", "id": "a", "params": { "deep": [{ "b/c": 1, "b/c": 2 }] } }]
    }"#;
    assert_snapshot!(said(text), @"
    /edges: `edges` stands twice in this object [F023]
    help: remove one of them: only one could be read, and the other would be lost
    /nodes/0/params/deep/0/b~1c: `b/c` stands twice in this object [F023]
    help: remove one of them: only one could be read, and the other would be lost
    ");
}

#[test]
fn wrong_types() {
    let fields = json!({ "name": 5, "inputs": [], "edges": [7], "ends": { "label": "x" }, "dependencies": { "a": 1 } });
    assert_snapshot!(said(&flow_with(fields)), @"
    /name: `name` is 5, and should be a string [F023]
    /inputs: `inputs` is a list, and should be an object [F023]
    /edges/0: an edge is 7, and should be an object [F023]
    /ends: `ends` is an object, and should be a list [F023]
    /dependencies/a: `a` is 1, and should be a string [F023]
    ");
    let fields = json!({ "fallible": "yes", "params": null, "internalFlow": 1, "mappings": { "inputs": { "a": 2 } } });
    assert_snapshot!(said(&node_with(fields)), @r#"
    /nodes/0/params: `params` is null, and should be an object [F023]
    /nodes/0/fallible: `fallible` is "yes", and should be true or false [F023]
    /nodes/0/mappings/inputs/a: `a` is 2, and should be a string [F023]
    /nodes/0/internalFlow: a flow is 1, and should be an object [F023]
    "#);
}

#[test]
fn settings() {
    let settings = json!({
        "retry": { "attempts": 0, "wait": "soon", "backoff": 0.5, "jitter": 2, "maxwait": "1s", "if": "" },
        "timeout": 30, "poll": { "timeout": "0s" }, "concurrency": -1, "collectErrors": 1
    });
    assert_snapshot!(said(&node_with(json!({ "settings": settings }))), @r#"
    /nodes/0/settings/retry/maxwait: there is no field `maxwait` here [F023]
    help: did you mean `maxWait`?
    /nodes/0/settings/retry/attempts: `attempts` is 0, and should be a count of at least 1 [F023]
    /nodes/0/settings/retry/wait: "soon" is not a duration above zero [F016]
    help: write a number and a unit, such as "200ms" or "1m 30s"
    /nodes/0/settings/retry/backoff: `backoff` is 0.5, and should be a number of at least 1 [F023]
    /nodes/0/settings/retry/jitter: `jitter` is 2, and should be a number from 0 to 1 [F023]
    /nodes/0/settings/retry/if: `if` is empty [F023]
    /nodes/0/settings/timeout: `timeout` is 30, and should be a duration such as "5s" [F023]
    /nodes/0/settings/poll: `every` is missing [F023]
    help: say how long to wait before asking again: `"every": "1s"`
    /nodes/0/settings/poll/timeout: "0s" is not a duration above zero [F016]
    help: write a number and a unit, such as "200ms" or "1m 30s"
    /nodes/0/settings/concurrency: `concurrency` is -1, and should be a count of at least 1 [F023]
    /nodes/0/settings/collectErrors: `collectErrors` is 1, and should be true or false [F023]
    "#);
}

#[test]
fn names_that_name_nothing() {
    let fields = json!({
        "inputs": { "properties": { "claim": {} }, "required": ["clam"] },
        "outputs": { "properties": { "receipt": {} } },
        "actions": [{ "name": "default", "writes": ["reciept"], "mayWrite": ["bill"] }],
        "mappings": { "inputs": { "claims": "claim" }, "outputs": { "receipt": "bill" } }
    });
    assert_snapshot!(said(&node_with(fields)), @r#"
    /nodes/0/inputs/required/0: `clam` is required, and is none of the properties [F015]
    help: did you mean `claim`?
    /nodes/0/mappings/inputs/claims: `review` reads no `claims` [F015]
    help: did you mean `claim`?
    /nodes/0/actions/0/writes/0: `review` writes `reciept` on "default", and has no such output [F015]
    help: did you mean `receipt`?
    /nodes/0/actions/0/mayWrite/0: `review` writes `bill` on "default", and has no such output [F015]
    help: there is `receipt`
    "#);
}

#[test]
fn nodes_of_the_language() {
    let nodes = json!([
        { "type": "flow.fork", "id": "a" },
        { "type": "flow.fork", "id": "b", "params": { "branches": [["j"], [], "j", [1]] } },
        { "type": "flow.each", "id": "c", "params": { "item": "x", "over": 1, "body": "jj" } },
        { "type": "flow.branch", "id": "d", "params": { "cases": [{ "if": "x" }], "else": "y" } },
        { "type": "flow.wait", "id": "e", "params": { "duration": "5 parsecs" } },
        { "type": "flow.human", "id": "f", "params": { "prompt": "" } },
        { "type": "flow.loop", "id": "g" },
        { "type": "flow.fro", "id": "h" },
        { "type": "flow.human", "id": "k", "params": { "prompt": "x", "expects": 1 } },
        { "type": "flow.human", "id": "l", "params": { "prompt": "x", "expect": "X" } },
        { "type": "flow.human", "id": "m", "params": { "expects": "X" } },
        { "type": "flow.wait", "id": "i", "params": { "duration": "5s" }, "internalFlowOmitted": true },
        { "type": "flow.signal", "id": "n" },
        { "type": "flow.signal", "id": "o", "params": {} },
        { "type": "flow.signal", "id": "p", "params": { "expects": "Cancel", "name": "cancel" } },
        { "type": "flow.signal", "id": "q", "params": { "names": "cancel" } },
        { "type": "flow.signal", "id": "r", "params": { "name": "" } },
        { "type": "flow.signals", "id": "s" },
        { "type": "j", "id": "j" }
    ]);
    assert_snapshot!(said(&flow_with(json!({ "nodes": nodes, "entryNodeId": "a" }))), @r#"
    /nodes/0: `params` is missing [F023]
    help: say what it consists of: `branches`
    /nodes/1/params/branches/1: a branch has at least one node [F023]
    help: write a list of lists of ids: `"branches": [["a", "b"], ["c"]]`
    /nodes/1/params/branches/2: a branch is "j", and should be a list [F023]
    help: write a list of lists of ids: `"branches": [["a", "b"], ["c"]]`
    /nodes/1/params/branches/3/0: a step of a branch is 1, and should be a node's id [F023]
    /nodes/2/params/over: `over` is 1, and should be a string [F023]
    /nodes/3/params/else: there is no field `else` here [F023]
    help: there is `cases`, `otherwise`
    /nodes/3/params/cases/0/if: there is no field `if` here [F023]
    help: there is `when`, `action`
    /nodes/3/params/cases/0: `when` is missing [F023]
    help: write the condition: `"when": "score > 3"`
    /nodes/3/params/cases/0: `action` is missing [F023]
    help: name the action: `"action": "high"`
    /nodes/3/params: `otherwise` is missing [F023]
    help: name the action if no condition is true: `"otherwise": "low"`
    /nodes/4/params/duration: "5 parsecs" is not a duration above zero [F016]
    help: write a number and a unit, such as "200ms" or "1m 30s"
    /nodes/5/params/prompt: `prompt` is empty [F023]
    /nodes/6/type: the language has no type `flow.loop` [F004]
    help: did you mean `flow.fork`?
    /nodes/7/type: the language has no type `flow.fro` [F004]
    help: did you mean `flow.fork`?
    /nodes/8/params/expects: `expects` is 1, and should be a string [F023]
    /nodes/9/params/expect: there is no field `expect` here [F023]
    help: did you mean `expects`?
    /nodes/10/params: `prompt` is missing [F023]
    help: say what is asked: `"prompt": "Deploy?"`
    /nodes/11/internalFlowOmitted: a `flow.wait` is part of the language, and no flow [F023]
    help: remove it, or write the flow's name as `type`
    /nodes/12: `params` is missing [F023]
    help: say what it waits for: `"expects": "CancelRequest"`, its type; or, for any JSON, its name: `"name": "cancel"`
    /nodes/13/params: `expects` is missing [F023]
    help: say what it waits for: `"expects": "CancelRequest"`, its type; or, for any JSON, its name: `"name": "cancel"`
    /nodes/14/params/name: a signal of a type has the name of its type [F023]
    help: remove `name`, or remove `expects` to take any JSON
    /nodes/15/params/names: there is no field `names` here [F023]
    help: did you mean `name`?
    /nodes/16/params/name: `name` is empty [F023]
    /nodes/17/type: the language has no type `flow.signals` [F004]
    help: did you mean `flow.signal`?
    /nodes/2/params/body: there is no node `jj` [F004]
    help: did you mean `j`?
    "#);
}

#[test]
fn a_node_without_a_readable_id_may_be_the_one_that_is_meant() {
    let fields = json!({
        "nodes": [{ "type": "a", "id": 1 }, { "type": "b", "id": "b" }],
        "edges": [{ "from": "a", "to": "b", "condition": "default" }],
        "entryNodeId": "a"
    });
    assert_snapshot!(said(&flow_with(fields)), @"/nodes/0/id: `id` is 1, and should be a string [F023]");
}

#[test]
fn nothing_runs() {
    let nothing =
        json!({ "nodes": [], "edges": [{ "from": "a", "to": "b", "condition": "default" }] });
    assert_snapshot!(said(&flow_with(nothing)), @"
    /nodes: the flow has no nodes [F018]
    help: add the node that runs first, or an entry without `from` to `ends` if the flow does nothing
    /edges/0/from: there is no node `a` [F004]
    /edges/0/to: there is no node `b` [F004]
    ");
    let nothing = flow_with(json!({ "nodes": [], "ends": [{ "label": "default" }] }));
    let flow = FlowDocument::parse(&nothing).unwrap();
    assert_eq!(flow.check(), []);
}

#[test]
fn no_json() {
    for text in ["", "{", "{} {}", "{'version': 1}", "[1e999]"] {
        let problems = FlowDocument::parse(text).unwrap_err();
        assert_eq!(problems.len(), 1, "{text}");
        assert!(
            problems[0].message.starts_with("this is not JSON: "),
            "{text}: {}",
            problems[0]
        );
    }
    assert_snapshot!(said("{\n  \"version\": \"2.0.0\",\n}"), @"/: this is not JSON: trailing comma (line 3, column 1) [F023]");
    assert_snapshot!(said("[]"), @"/: a flow is a list, and should be an object [F023]");
}

#[test]
fn the_mark_of_some_editors_is_no_part_of_the_text() {
    let text = flow_with(json!({}));
    assert_eq!(
        FlowDocument::parse(&format!("\u{feff}{text}")),
        FlowDocument::parse(&text)
    );
}

#[test]
fn deep_nesting_is_refused_and_does_not_overflow_the_stack() {
    assert_snapshot!(said(&"[".repeat(100_000)), @"/: lists and objects stand too deep in one another (line 1, column 128) [F023]");
    assert_eq!(FlowDocument::parse(&nested(DEEPEST)).err(), None);
    let problems = FlowDocument::parse(&nested(DEEPEST + 1)).unwrap_err();
    assert_eq!(problems.len(), 1);
    assert_eq!(
        problems[0].pointer,
        "/nodes/0/internalFlow".repeat(DEEPEST + 1)
    );
    assert_eq!(problems[0].message, "flows nest deeper than 32 levels");
}

/// A flow with as many flows in it, each inside the one before.
fn nested(levels: usize) -> String {
    let before = r#"{"version":"2.0.0","edges":[],"nodes":[{"type":"a","id":"a","internalFlow":"#;
    format!(
        "{}{}{}",
        before.repeat(levels),
        flow_with(json!({})),
        "}]}".repeat(levels)
    )
}

/// BackpackFlow has no ends, and may leave it open with which node a flow begins.
#[test]
fn a_flow_without_ends_begins_with_the_node_to_which_no_edge_leads() {
    let nodes = |ids: &[&str]| -> Vec<Value> {
        let node = |id: &&str| json!({ "type": "step", "id": id });
        ids.iter().map(node).collect()
    };
    let edge = |from: &str, to: &str| json!({ "from": from, "to": to, "condition": "complete" });
    let mut flow = json!({
        "version": "2.0.0",
        "nodes": nodes(&["c", "a", "b"]),
        "edges": [edge("a", "b"), edge("b", "c"), edge("c", "b")],
        "dependencies": {}
    });
    let read = FlowDocument::from_value(&flow).unwrap();
    assert_eq!(read.entry_node_id.as_deref(), Some("a"));
    let entry = FlowDocument::parse(&read.to_json()).unwrap().entry_node_id;
    assert_eq!(entry.as_deref(), Some("a"));

    // A node that repeats itself can be the first one all the same.
    let mut repeated = flow.clone();
    repeated["edges"] = json!([
        edge("a", "a"),
        edge("a", "b"),
        edge("b", "c"),
        edge("b", "b")
    ]);
    let entry = FlowDocument::from_value(&repeated).unwrap().entry_node_id;
    assert_eq!(entry.as_deref(), Some("a"));

    // With ends, the entry is always named.
    let mut ended = flow.clone();
    ended["ends"] = json!([{ "from": "c", "condition": "default", "label": "default" }]);
    assert_snapshot!(said(&ended.to_string()), @r#"
    /: `entryNodeId` is missing [F018]
    help: name the node that runs first, such as `"entryNodeId": "a"`
    "#);
    // Nodes of a fork are not the first ones.
    let mut forked = flow.clone();
    forked["nodes"] = json!([
        { "type": "flow.fork", "id": "all", "params": { "branches": [["a"]] } },
        { "type": "step", "id": "a" },
    ]);
    forked["edges"] = json!([]);
    let entry = FlowDocument::from_value(&forked).unwrap().entry_node_id;
    assert_eq!(entry.as_deref(), Some("all"));

    flow["edges"] = json!([edge("a", "b"), edge("b", "c"), edge("c", "a")]);
    assert_snapshot!(said(&flow.to_string()), @r#"
    /: `entryNodeId` is missing, and an edge leads to each node: `c`, `a`, `b` [F018]
    help: name the node that runs first, such as `"entryNodeId": "c"`
    "#);
    flow["nodes"] = nodes(&["a", "b", "c", "d", "e", "f", "g", "h"]).into();
    flow["edges"] = json!([edge("a", "b")]);
    assert_snapshot!(said(&flow.to_string()), @r#"
    /: `entryNodeId` is missing, and no edge leads to several nodes: `a`, `c`, `d`, `e`, `f`, `…` [F018]
    help: name the node that runs first, such as `"entryNodeId": "a"`
    "#);
    flow["edges"] = json!([edge("a", "x")]);
    assert_snapshot!(said(&flow.to_string()), @r#"
    /edges/0/to: there is no node `x` [F004]
    help: there is `a`, `b`, `c`, `d`, `e`, `f`, `g`, `h`
    /: `entryNodeId` is missing [F018]
    help: name the node that runs first, such as `"entryNodeId": "a"`
    "#);
}

/// Unicode writes a letter in several ways, which look the same.
#[test]
fn actions_are_compared_in_the_composed_form() {
    let flow = |defined: &str, named: &str| {
        json!({
            "version": "2.0.0",
            "nodes": [
                { "type": "a", "id": "a", "actions": [{ "name": defined }] },
                { "type": "flow.branch", "id": "b", "params": {
                    "cases": [{ "when": "x > 1", "action": defined }], "otherwise": named } },
                { "type": "Inner", "id": "c", "internalFlow": {
                    "version": "2.0.0", "nodes": [], "edges": [],
                    "ends": [{ "label": defined }] } }
            ],
            "edges": [
                { "from": "a", "to": "b", "condition": named },
                { "from": "b", "to": "c", "condition": named }
            ],
            "ends": [{ "from": "c", "condition": named, "label": named }],
            "entryNodeId": "a"
        })
    };
    let (one, two) = ("caf\u{e9}", "cafe\u{301}");
    let expected = FlowDocument::from_value(&flow(one, one)).unwrap();
    for (defined, named) in [(one, two), (two, one), (two, two)] {
        let read = FlowDocument::from_value(&flow(defined, named)).unwrap();
        assert_eq!(read, expected);
        assert_eq!(read.check(), []);
    }
}

/// Keys are those of the caller's values, so they stay as they are.
#[test]
fn a_key_that_only_looks_like_another_is_told_so() {
    let flow = json!({
        "version": "2.0.0",
        "inputs": { "properties": { "caf\u{e9}": {} }, "required": ["caf\u{e9}"] },
        "nodes": [{ "type": "a", "id": "a", "inputs": {
            "properties": { "cafe\u{301}": {} }, "required": ["cafe\u{301}"] } }],
        "edges": [],
        "ends": [{ "from": "a", "condition": "default", "label": "default" }]
    });
    let problems = FlowDocument::from_value(&flow).unwrap().check();
    assert_eq!(problems.len(), 1, "{problems:?}");
    let help = problems[0].help.as_deref().unwrap_or_default();
    let expected =
        "did you mean `caf\u{e9}`, which looks the same and consists of other characters?";
    assert!(help.starts_with(expected), "{help}");
}
