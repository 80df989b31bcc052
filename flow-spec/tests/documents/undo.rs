//! Undo nodes in documents: what is read, what is wrong with them, and what a change of them is.

use flow_spec::FlowDocument;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::diffs::{changes, lines};
use crate::soundness::{flow, node, said};

/// A node with an undo node.
fn undone(mut node: Value, by: &str) -> Value {
    node["settings"] = json!({ "undo": by });
    node
}

/// `undo` or `commit`, which need no params.
fn built_in(word: &str) -> Value {
    json!({ "type": format!("flow.{word}"), "id": word })
}

/// An order that is charged and shipped: `ship - "refused" >> undo >> end("refused")`.
fn order() -> Value {
    let mut order = flow(
        &[
            undone(node("charge", &[], &[("default", &["receipt"])]), "refund"),
            node("ship", &[], &[("default", &[]), ("refused", &[])]),
            built_in("commit"),
            built_in("undo"),
            node("refund", &["receipt"], &[("default", &[])]),
        ],
        &[
            ("charge", "default", "ship"),
            ("ship", "default", "commit"),
            ("ship", "refused", "undo"),
        ],
        &[
            ("commit", "default", "default"),
            ("undo", "default", "refused"),
        ],
    );
    order["name"] = json!("Order");
    order
}

/// The order after a change of one of its nodes.
fn changed(index: usize, change: impl Fn(&mut Value)) -> Value {
    let mut order = order();
    change(&mut order["nodes"][index]);
    order
}

fn unread(order: &Value) -> String {
    let problems = FlowDocument::from_value(order).expect_err("it cannot be read");
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

#[test]
fn a_sound_order() {
    assert_eq!(said(order()), "");
    let flow = FlowDocument::from_value(&order()).unwrap();
    assert_eq!(flow.undo_nodes()["refund"], [&flow.nodes[0]]);
    assert_eq!(flow.owner("refund"), None);
    assert!(!flow.nodes[2].is_left_open() && !flow.nodes[3].is_left_open());
}

#[test]
fn the_entry_and_the_ends_of_other_tools() {
    let order = json!({
        "version": "2.0.0",
        "nodes": [
            { "type": "refund", "id": "refund" },
            { "type": "charge", "id": "charge", "settings": { "undo": "refund" } },
            { "type": "ship", "id": "ship" }
        ],
        "edges": [{ "from": "charge", "to": "ship", "condition": "default" }]
    });
    let flow = FlowDocument::from_value(&order).unwrap();
    assert_eq!(flow.entry_node_id.as_deref(), Some("charge"));
    assert_eq!(flow.check(), []);
}

#[test]
fn ids_are_compared_in_the_composed_form() {
    let renamed = |text: &str| text.replace("refund", "re\u{301}fund");
    let order: Value = serde_json::from_str(&renamed(&order().to_string())).unwrap();
    assert_eq!(said(order), "");
}

#[test]
fn what_cannot_be_read() {
    let unknown = changed(0, |node| node["settings"]["undo"] = json!("refunds"));
    assert_snapshot!(unread(&unknown), @"
    /nodes/0/settings/undo: there is no node `refunds` [F004]
    help: did you mean `refund`?
    ");
    let params = changed(3, |node| node["params"] = json!({ "steps": ["charge"] }));
    assert_snapshot!(unread(&params), @"
    /nodes/3/params/steps: a `flow.undo` has no `steps` [F023]
    help: remove it: its `params` are empty
    ");
    let list = changed(2, |node| node["params"] = json!([]));
    assert_snapshot!(unread(&list), @"/nodes/2/params: `params` is a list, and should be an object [F023]");
    let misspelt = changed(2, |node| node["type"] = json!("flow.comit"));
    assert_snapshot!(unread(&misspelt), @"
    /nodes/2/type: the language has no type `flow.comit` [F004]
    help: did you mean `flow.commit`?
    ");
}

#[test]
fn what_undo_and_commit_do_not_have() {
    let settings = json!({ "retry": { "attempts": 2 }, "timeout": "5s", "blocking": true });
    let wrong = changed(3, |undo| {
        *undo = node("undo", &["receipt"], &[("default", &["note"])]);
        undo["type"] = json!("flow.undo");
        undo["settings"] = settings.clone();
        undo["fallible"] = json!(true);
    });
    assert_snapshot!(said(wrong), @r#"
    /nodes/3/settings/retry: `undo` makes no attempts of its own [F015]
    help: give this setting to a node that works
    /nodes/3/settings/timeout: `undo` makes no attempts of its own [F015]
    help: give this setting to a node that works
    /nodes/3/settings/blocking: `blocking` does nothing for `undo` [F015]
    help: it is a setting of a node that is code
    /nodes/3/fallible: `undo` never takes "error" [F013]
    help: remove this: if an undo node fails for good, the run fails
    /nodes/3/inputs: `undo` undoes visits, and reads nothing [F015]
    help: remove `inputs`
    /nodes/3/outputs: `undo` undoes visits, and writes nothing [F015]
    help: remove `outputs`
    "#);
    let mut decides = changed(3, |undo| undo["actions"] = json!([{ "name": "failed" }]));
    decides["ends"][1]["condition"] = json!("failed");
    assert_snapshot!(said(decides), @r#"
    /ends/1/condition: `undo` has no action "failed" [F001]
    help: write an action that the node has as `condition`, or add this one to its `actions`
    /nodes/3/actions: `undo` undoes visits, and decides nothing [F015]
    help: remove `actions`
    "#);
}

#[test]
fn what_is_missing() {
    let missing = changed(0, |charge| {
        *charge = undone(
            node(
                "charge",
                &[],
                &[("default", &["receipt"]), ("declined", &[])],
            ),
            "refund",
        );
    });
    let mut missing = missing;
    let end = json!({ "from": "charge", "condition": "declined", "label": "declined" });
    missing["ends"].as_array_mut().unwrap().push(end);
    assert_snapshot!(said(missing.clone()), @r#"
    /nodes/0/settings/undo: `refund` reads `receipt`, which is not there if `charge` takes "declined" [F007]
    this path does not write it: start >> charge - "declined"
    `charge` writes `receipt` only on "default"
    help: write it before, remove it from `required` in the `inputs` of the undo node, or add it to those of the flow
    "#);
    missing["nodes"][4]["inputs"]["required"] = json!([]);
    assert_eq!(said(missing), "");
}

#[test]
fn what_cannot_undo() {
    let mut twice = order();
    twice["nodes"][1]["settings"] = json!({ "undo": "undo" });
    twice["nodes"][4]["settings"] = json!({ "undo": "ship" });
    assert_snapshot!(said(twice), @"
    /nodes/1/settings/undo: `undo` is a step of the language, which cannot take back `ship` [F025]
    help: name a node that is code
    /nodes/4/settings/undo: `refund` takes back `charge`, so it cannot have an undo node itself [F025]
    it takes back `charge` here (/nodes/0/settings/undo)
    help: remove this
    ");
    let mut step_too = order();
    step_too["edges"][0]["to"] = json!("refund");
    let edge = json!({ "from": "refund", "to": "ship", "condition": "default" });
    step_too["edges"].as_array_mut().unwrap().push(edge);
    assert_snapshot!(said(step_too), @"
    /edges/0/to: `refund` takes back `charge`, so it cannot be a step as well [F025]
    it takes back `charge` here (/nodes/0/settings/undo)
    help: add a second node of its type for this place
    ");
    let writes = changed(4, |refund| {
        *refund = node("refund", &["receipt"], &[("default", &["receipt"])]);
    });
    assert_snapshot!(said(writes), @"
    /nodes/0/settings/undo: `refund` writes `receipt`, which `charge` writes: what an undo node writes is not kept [F025]
    `receipt` is used here (/nodes/0)
    help: remove it from the `outputs` of that node, or map it to a key of its own in its `mappings`
    ");
    let nothing = changed(0, |charge| charge["settings"] = json!({}));
    assert_snapshot!(said(nothing), @"
    /nodes/2: `commit` has nothing to forget: no node of this flow has an undo node, or is a flow [F025]
    help: set `undo` in the `settings` of a node, or remove this
    /nodes/3: `undo` has nothing to undo: no node of this flow has an undo node, or is a flow [F025]
    help: set `undo` in the `settings` of a node, or remove this
    /nodes/4: `refund` is declared but no edge leads to it [F005]
    help: lead an edge to it from the step before it, or remove it
    ");
}

/// A list of orders, of which each is charged.
#[test]
fn a_loop_and_its_body() {
    let body = node("charge", &["order"], &[("default", &["receipt"])]);
    let each = json!({
        "type": "flow.each", "id": "all", "params": { "item": "order", "over": "orders", "body": "charge" },
        "inputs": { "properties": { "orders": {} }, "required": ["orders"] },
        "actions": [{ "name": "default" }]
    });
    let build = |each: &Value, body: &Value| {
        let refund = node("refund", &["receipt", "order"], &[("default", &[])]);
        let nodes = [each.clone(), body.clone(), refund];
        let mut orders = flow(&nodes, &[], &[("all", "default", "default")]);
        orders["inputs"] = json!({ "properties": { "orders": {} }, "required": ["orders"] });
        orders
    };
    assert_snapshot!(said(build(&each, &undone(body.clone(), "refund"))), @"
    /nodes/1/settings/undo: `charge` runs for each item of `all`, so it cannot have an undo node [F025]
    help: make a flow of `charge`, set `undo` at its step, and let the loop run that flow: then each item is taken back
    ");
    assert_snapshot!(said(build(&undone(each, "refund"), &body)), @"
    /nodes/0/settings/undo: `all` is a loop over items, which cannot have an undo node [F025]
    help: make a flow of `charge`, set `undo` at its step, and let the loop run that flow: then each item is taken back
    ");
}

#[test]
fn changes_of_an_undo_node() {
    let old = order().to_string();
    let find = |edits: &[(&str, &str)]| lines(&old, edits);
    assert_snapshot!(find(&[("/nodes/0/settings", "{}")]), @"-B /nodes/0/settings/undo `charge` has no undo node any more: earlier visits are not taken back");
    assert_snapshot!(find(&[("/nodes/1/settings", r#"{ "undo": "refund" }"#)]), @"-B /nodes/1/settings/undo `ship` is taken back by `refund` now: earlier visits did not keep what it reads");
    let other = [
        ("/nodes/-", r#"{ "type": "recall", "id": "recall" }"#),
        ("/nodes/0/settings/undo", r#""recall""#),
    ];
    assert_snapshot!(find(&other), @"
    -B /nodes/0/settings/undo `charge` is taken back by `recall`, and was by `refund`: earlier visits kept what that one reads
    -c /nodes/5 node `recall` was added
    ");
    let renamed = [
        ("/nodes/4/id", r#""pay_back""#),
        ("/nodes/0/settings/undo", r#""pay_back""#),
    ];
    assert_snapshot!(find(&renamed), @"-B /nodes/4/id node `refund` was renamed to `pay_back`");
    let reads = [
        (
            "/nodes/4/inputs/properties/amount",
            r#"{ "rustType": "u64" }"#,
        ),
        ("/nodes/4/inputs/required", "[]"),
        (
            "/nodes/4/mappings",
            r#"{ "inputs": { "amount": "price" } }"#,
        ),
    ];
    assert_snapshot!(find(&reads), @"
    -B /nodes/4/inputs/properties/receipt `refund` reads: `receipt` may be missing now
    -B /nodes/4/inputs/properties/amount `refund` also reads `amount`
    -B /nodes/4/mappings/inputs `refund` reads from other keys
    ");
    let passed = changes(&old, &reads)
        .into_iter()
        .map(|change| change.passed);
    assert!(passed.into_iter().all(|passed| passed == ["charge"]));
    let described = [(
        "/nodes/4/inputs/properties/receipt/description",
        r#""What was paid.""#,
    )];
    assert_snapshot!(find(&described), @"-c /nodes/4/inputs/properties/receipt `refund` reads: `receipt` is described otherwise");
    let other_function = [
        ("/nodes/4/type", r#""pay_back""#),
        ("/nodes/4/settings", r#"{ "timeout": "5s" }"#),
    ];
    assert_snapshot!(find(&other_function), @"
    -c /nodes/4/type `refund` was a `refund`, and is a `pay_back`
    -c /nodes/4/settings/timeout `refund`: setting `timeout` was added
    ");
    let steps = [
        ("/nodes/-", r#"{ "type": "flow.undo", "id": "undo_2" }"#),
        ("/nodes/2/type", r#""flow.undo""#),
    ];
    assert_snapshot!(find(&steps), @"
    -B /nodes/2/type `commit` was a `flow.commit`, and is a `flow.undo`
    -c /nodes/5 node `undo_2` was added
    ");
}
