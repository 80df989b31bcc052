//! What a diff finds, and how it judges.

use flow_spec::diff::{Change, Effect};
use flow_spec::{FlowDocument, diff};
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::generate::documents;
use crate::mutate::changed;

const OLD: &str = include_str!("fixtures/expense_approval.json");
const NEW: &str = include_str!("fixtures/expense_approval_2.json");
const NESTED: &str = include_str!("fixtures/of_others.json");

fn parse(text: &str) -> FlowDocument {
    FlowDocument::parse(text).unwrap()
}

#[test]
fn two_versions_of_expense_approval() {
    let (old, new) = (parse(OLD), parse(NEW));
    assert_eq!([old.check(), new.check()], [[], []]);
    let diff = diff(&old, &new);
    assert!(diff.is_breaking());
    assert_snapshot!(diff, @r#"
    breaking:
      input `claim` was renamed to `request` (callers, executions)
      output `receipt` was `Receipt`, and is `Invoice` (callers)
      `review` no longer takes "needs_revision" (executions)
      `pay` writes: `receipt` was `Receipt`, and is `Invoice` (executions)
      node `revise` was removed (executions)
    compatible:
      input `note` was added, and may be left out (callers, executions)
      the flow is described otherwise (callers)
      `review` no longer writes `feedback` (executions)
      `review` reads `request` instead of `claim` (executions)
      `pay` reads `request` instead of `claim` (executions)
      `pay` also reads `note` (executions)
      `pay`: setting `retry.attempts` was 3, and is 5 (executions)
      edge `review` - "needs_revision" to `revise` was removed (executions)
      edge `revise` - "default" to `review` was removed (executions)
    "#);
}

/// The changes after one to the JSON: at the pointer this text, or nothing if it is empty.
pub(crate) fn changes(text: &str, edits: &[(&str, &str)]) -> Vec<Change> {
    let mut value: Value = serde_json::from_str(text).unwrap();
    for (pointer, text) in edits {
        let (around, name) = pointer.rsplit_once('/').unwrap();
        let around = value.pointer_mut(around).expect(pointer);
        match (around, *text) {
            (Value::Object(map), "") => {
                map.shift_remove(name).expect(pointer);
            }
            (Value::Object(map), text) => {
                map.insert(name.to_owned(), serde_json::from_str(text).unwrap());
            }
            (Value::Array(items), "") => {
                items.remove(name.parse().unwrap());
            }
            (Value::Array(items), text) if name == "-" => {
                items.push(serde_json::from_str(text).unwrap());
            }
            (other, _) => panic!("{other} has no part {name}"),
        }
    }
    diff(&parse(text), &FlowDocument::from_value(&value).unwrap()).changes
}

/// One line for each change: what it is to callers and to executions, where it is, and the sentence.
pub(crate) fn lines(text: &str, edits: &[(&str, &str)]) -> String {
    let changes = changes(text, edits);
    let lines = changes.iter().map(|change| {
        let effect = |effect| match effect {
            Effect::None => '-',
            Effect::Compatible => 'c',
            Effect::Breaking => 'B',
        };
        let (callers, executions) = (effect(change.callers), effect(change.executions));
        format!(
            "{callers}{executions} {} {}\n",
            change.pointer, change.message
        )
    });
    lines.collect()
}

/// An execution has recorded what was returned, and would do something else with it.
#[test]
fn what_is_added_now_and_replaced_the_value_before() {
    let found = changes(OLD, &[("/nodes/0/outputs/properties/amount/add", "true")]);
    let [change] = &found[..] else {
        panic!("{found:#?}")
    };
    assert_eq!(change.executions, Effect::Breaking);
    assert!(
        change
            .message
            .ends_with("as `amount` adds to its key, and replaced it"),
        "{}",
        change.message
    );
}

#[test]
fn inputs() {
    assert_snapshot!(lines(OLD, &[("/inputs/properties/note", "{}")]), @"cc /inputs/properties/note input `note` was added, and may be left out");
    let required = r#"["claim", "policy", "note"]"#;
    assert_snapshot!(lines(OLD, &[("/inputs/properties/note", "{}"), ("/inputs/required", required)]), @"BB /inputs/properties/note input `note` was added, and has to be given");
    assert_snapshot!(lines(OLD, &[("/inputs/required", r#"["claim"]"#)]), @"cc /inputs/properties/policy input `policy` may be left out now");
    assert_snapshot!(lines(NESTED, &[("/nodes/0/inputs/required", "[]")]), @"-c /nodes/0/inputs/properties/query `agent` reads: `query` may be missing now");
    assert_snapshot!(lines(OLD, &[("/inputs/required", r#"["claim"]"#), ("/inputs/properties/policy", "")]), @"Bc /inputs/properties/policy input `policy` was removed");
    let other = r#"{ "rustType": "Expense" }"#;
    assert_snapshot!(lines(OLD, &[("/inputs/properties/claim", other)]), @"BB /inputs/properties/claim input `claim` was `Claim`, and is `Expense`");
    let described = r#"{ "rustType": "Claim", "description": "What was spent." }"#;
    assert_snapshot!(lines(OLD, &[("/inputs/properties/claim", described)]), @"cc /inputs/properties/claim input `claim` is described otherwise");
}

#[test]
fn defaults_of_inputs() {
    let claim = "/inputs/properties/claim";
    let with = |default: &str| format!(r#"{{ "rustType": "Claim", "default": {default} }}"#);
    let old = serde_json::from_str::<Value>(OLD).unwrap();
    let with_default = {
        let mut with_default = old.clone();
        with_default["inputs"]["properties"]["claim"]["default"] = json!([3]);
        with_default.to_string()
    };
    assert_snapshot!(lines(OLD, &[(claim, &with("[3]"))]), @"cc /inputs/properties/claim input `claim` has a default now: [3]");
    assert_snapshot!(lines(&with_default, &[(claim, &with("[5]"))]), @"cc /inputs/properties/claim input `claim` had the default [3], and has [5]");
    assert_snapshot!(lines(&with_default, &[(claim, r#"{ "rustType": "Claim" }"#)]), @"cc /inputs/properties/claim input `claim` no longer has a default, which was [3]");
    let omitted = r#"{ "rustType": "Claim", "defaultOmitted": true }"#;
    assert_snapshot!(lines(OLD, &[(claim, omitted)]), @"cc /inputs/properties/claim input `claim` has a default now");
    assert_snapshot!(lines(&with_default, &[(claim, omitted)]), @"cc /inputs/properties/claim input `claim` had the default [3], and has one that the document does not say");
    let other = r#"{ "rustType": "Expense", "default": 1 }"#;
    assert_snapshot!(lines(OLD, &[(claim, other)]), @r"
    cc /inputs/properties/claim input `claim` has a default now: 1
    BB /inputs/properties/claim input `claim` was `Claim`, and is `Expense`
    ");
}

#[test]
fn outputs() {
    assert_snapshot!(lines(OLD, &[("/outputs/required", r#"["receipt"]"#)]), @"B- /outputs/properties/receipt output `receipt` is always there now");
    assert_snapshot!(lines(OLD, &[("/outputs/properties/amount", "{}")]), @"c- /outputs/properties/amount output `amount` was added");
    assert_snapshot!(lines(OLD, &[("/outputs", "")]), @"B- /outputs/properties/receipt output `receipt` was removed");
    let number = r#"{ "type": "number" }"#;
    assert_snapshot!(lines(OLD, &[("/outputs/properties/receipt", number)]), @"c- /outputs/properties/receipt output `receipt` is described otherwise");
}

#[test]
fn what_is_written_at_an_end() {
    let skip = [(
        "/ends/-",
        r#"{ "from": "pay", "condition": "error", "label": "default" }"#,
    )];
    assert_snapshot!(lines(OLD, &skip), @r#"
    B- /outputs/properties/receipt output `receipt` may be missing at end "default" now
    -c /ends/2 edge `pay` - "error" to end "default" was added
    "#);
    let writes = [
        ("/nodes/0/actions/2/writes", r#"["reason", "receipt"]"#),
        (
            "/nodes/0/outputs/properties/receipt",
            r#"{ "rustType": "Receipt" }"#,
        ),
    ];
    assert_snapshot!(lines(OLD, &writes), @r#"
    c- /outputs/properties/receipt output `receipt` is there at end "rejected" now
    -B /nodes/0/outputs/properties/receipt `review` also writes `receipt`
    "#);
    let swapped = [
        ("/ends/1/label", r#""rejected""#),
        ("/ends/0/label", r#""default""#),
    ];
    assert_snapshot!(lines(OLD, &swapped), @r#"
    B- /outputs/properties/receipt output `receipt` is never there at end "default" now
    c- /outputs/properties/receipt output `receipt` is there at end "rejected" now
    -c /ends/0 `review` - "rejected" leads to end "default", and led to end "rejected"
    -c /ends/1 `pay` - "default" leads to end "rejected", and led to end "default"
    "#);
}

#[test]
fn ends() {
    let end = r#"{ "from": "pay", "condition": "error", "label": "failed" }"#;
    assert_snapshot!(lines(OLD, &[("/ends/-", end)]), @r#"
    B- /ends/2/label end "failed" was added: whoever matches on the ends has to expect it
    -c /ends/2 edge `pay` - "error" to end "failed" was added
    "#);
    assert_snapshot!(lines(OLD, &[("/ends/0/label", r#""default""#)]), @r#"
    B- /ends/0/label end "rejected" was removed
    B- /outputs/properties/receipt output `receipt` may be missing at end "default" now
    -c /ends/0 `review` - "rejected" leads to end "default", and led to end "rejected"
    "#);
}

#[test]
fn nodes() {
    let node = r#"{ "type": "log", "id": "log" }"#;
    assert_snapshot!(lines(OLD, &[("/nodes/-", node)]), @"-c /nodes/3 node `log` was added");
    assert_snapshot!(lines(OLD, &[("/nodes/2/type", r#""PayPal""#)]), @"-c /nodes/2/type `pay` was a `pay`, and is a `PayPal`");
    assert_snapshot!(lines(OLD, &[("/nodes/2/description", "")]), @"-c /nodes/2/description `pay` is described otherwise");
    let shown = [
        ("/nodes/2/title", r#""Pay the claim""#),
        ("/nodes/2/icon", r#""bank""#),
        ("/nodes/2/group", r#""finance""#),
        ("/nodes/2/tags", r#"["slow"]"#),
    ];
    assert_snapshot!(lines(OLD, &shown), @"
    -c /nodes/2/title `pay` has another title
    -c /nodes/2/icon `pay` has another icon
    -c /nodes/2/group `pay` is in another group
    -c /nodes/2/tags `pay` has other tags
    ");
    let renamed = [
        ("/nodes/0/id", r#""assess""#),
        ("/edges/0/from", r#""assess""#),
        ("/edges/1/from", r#""assess""#),
        ("/edges/2/to", r#""assess""#),
        ("/ends/0/from", r#""assess""#),
        ("/entryNodeId", r#""assess""#),
    ];
    assert_snapshot!(lines(OLD, &renamed), @"-B /nodes/0/id node `review` was renamed to `assess`");
}

#[test]
fn actions_and_writes() {
    let action = r#"{ "name": "escalated" }"#;
    assert_snapshot!(lines(OLD, &[("/nodes/0/actions/-", action)]), @r#"-c /nodes/0/actions/3 `review` can also take "escalated""#);
    assert_snapshot!(lines(OLD, &[("/nodes/0/actions/0/writes", "")]), @r#"-B /nodes/0/actions/0 `review` no longer writes `amount` on "approved""#);
    let also = [
        ("/nodes/2/outputs/properties/id", "{}"),
        ("/nodes/2/actions/0/mayWrite", r#"["id"]"#),
    ];
    assert_snapshot!(lines(OLD, &also), @"-c /nodes/2/outputs/properties/id `pay` also writes `id`");
    let always = [
        ("/nodes/2/outputs/properties/id", "{}"),
        ("/nodes/2/actions/0/writes", r#"["receipt", "id"]"#),
    ];
    assert_snapshot!(lines(OLD, &always), @"-B /nodes/2/outputs/properties/id `pay` also writes `id`");
    assert_snapshot!(lines(OLD, &[("/nodes/2/fallible", "false")]), @"-B /nodes/2/fallible `pay` can no longer fail");
    // What failed for want of an answer takes the new action instead.
    let routed = [
        ("/nodes/2/fallible", "false"),
        (
            "/nodes/2/actions",
            r#"[{ "name": "default", "writes": ["receipt"] }, { "name": "timeout" }]"#,
        ),
    ];
    assert_snapshot!(lines(OLD, &routed), @r#"-c /nodes/2/actions/1 `pay` can also take "timeout""#);
}

#[test]
fn settings_and_ways() {
    assert_snapshot!(lines(OLD, &[("/nodes/2/settings/retry/attempts", "5"), ("/nodes/2/settings/timeout", r#""9s""#)]), @"
    -c /nodes/2/settings/retry/attempts `pay`: setting `retry.attempts` was 3, and is 5
    -c /nodes/2/settings/timeout `pay`: setting `timeout` was added
    ");
    assert_snapshot!(lines(OLD, &[("/nodes/2/settings/retry/if", r#""is_transient""#)]), @"-c /nodes/2/settings/retry/if `pay`: setting `retry.if` was added");
    assert_snapshot!(lines(OLD, &[("/edges/0/to", r#""revise""#), ("/entryNodeId", r#""pay""#)]), @r#"
    -B /entryNodeId the flow begins at `pay`, and began at `review`
    -B /edges/0 `review` - "approved" leads to `revise`, and led to `pay`
    "#);
}

/// What lies behind a change breaks, and what does not lie behind it continues.
#[test]
fn changes_before_what_was_done() {
    let shown = |text: &str, edits: &[(&str, &str)]| {
        let changes = changes(text, edits);
        let lines = changes.iter().map(|change| format!("{change}\n"));
        lines.collect::<String>()
    };
    let log = r#"{ "type": "log", "id": "log", "actions": [{ "name": "default" }] }"#;
    let to_pay = r#"{ "from": "log", "to": "pay", "condition": "default" }"#;
    let between = [
        ("/nodes/-", log),
        ("/edges/0/to", r#""log""#),
        ("/edges/-", to_pay),
    ];
    assert_snapshot!(shown(OLD, &between), @r#"
    node `log` was added (executions)
    `review` - "approved" leads to `log`, and led to `pay` (executions that have passed `pay`)
    edge `log` - "default" to `pay` was added (executions)
    "#);
    let everything = include_str!("fixtures/everything.json");
    let at_once = |number: &str| shown(everything, &[("/nodes/0/settings/concurrency", number)]);
    assert_snapshot!(at_once("1"), @"`search`: setting `concurrency` was 2, and is 1 (executions that have passed `search`)");
    assert_snapshot!(at_once("9"), @"`search`: setting `concurrency` was 2, and is 9 (executions)");
}

#[test]
fn mappings_and_order() {
    let other = r#"{ "amount": "sum" }"#;
    assert_snapshot!(lines(OLD, &[("/edges/0/mappings", other)]), @r#"-c /edges/0 `review` - "approved" writes under other names"#);
    assert_snapshot!(lines(OLD, &[("/ends/0/mappings", other)]), @r#"-c /ends/0 `review` - "rejected" writes under other names"#);
    assert_snapshot!(lines(OLD, &[("/entryMappings", other)]), @"-c /entryMappings `start` writes under other names");
    let mappings = r#"{ "inputs": { "amount": "sum" }, "outputs": { "receipt": "bill" } }"#;
    assert_snapshot!(lines(OLD, &[("/nodes/2/mappings", mappings)]), @"
    -c /nodes/2/mappings/inputs `pay` reads from other keys
    -c /nodes/2/mappings/outputs `pay` writes to other keys
    ");
    let first: Value = serde_json::from_str(OLD).unwrap();
    let edge = first["edges"][0].to_string();
    assert_snapshot!(lines(OLD, &[("/edges/0", ""), ("/edges/-", &edge)]), @"-c  the flow is written in another order");
    let action = first["nodes"][0]["actions"][0].to_string();
    assert_snapshot!(lines(OLD, &[("/nodes/0/actions/0", ""), ("/nodes/0/actions/-", &action)]), @"-c /nodes/0 `review` is written in another order");
}

#[test]
fn flows_in_flows() {
    assert_snapshot!(lines(NESTED, &[("/nodes/0/internalFlow/nodes/2/type", r#""Chat""#)]), @"-c /nodes/0/internalFlow/nodes/2/type `agent.summary` was a `BaseChatCompletionNode`, and is a `Chat`");
    assert_snapshot!(lines(NESTED, &[("/nodes/0/internalFlow/nodes/0/id", r#""find""#), ("/nodes/0/internalFlow/edges/0/from", r#""find""#), ("/nodes/0/internalFlow/entryNodeId", r#""find""#)]), @"-B /nodes/0/internalFlow/nodes/0/id node `agent.search` was renamed to `find`");
    assert_snapshot!(lines(NESTED, &[("/nodes/0/internalFlow", "")]), @"-B /nodes/0 `agent` is not a flow any more");
    assert_snapshot!(lines(NESTED, &[("/nodes/0/internalFlow", ""), ("/nodes/0/internalFlowOmitted", "true")]), @"-c /nodes/0 the flow of `agent` stands in one version only: it is not compared");
    assert_snapshot!(lines(NESTED, &[("/nodes/0/params/apiKey", r#""other""#)]), @r#"-c /nodes/0/params/apiKey `agent`: param `apiKey` was "***", and is "other""#);
}

#[test]
fn results_of_a_loop_belong_to_its_items() {
    let everything = include_str!("fixtures/everything.json");
    assert_snapshot!(lines(everything, &[("/nodes/1/params/over", r#""urls""#)]), @r#"-B /nodes/1/params/over `searches`: param `over` was "topics", and is "urls""#);
}

/// Those that speak of a renamed node have not changed.
#[test]
fn a_renamed_node_in_a_loop_is_one_change() {
    let everything = include_str!("fixtures/everything.json");
    let edits = [
        ("/nodes/0/id", r#""find""#),
        ("/nodes/1/params/body", r#""find""#),
    ];
    assert_snapshot!(lines(everything, &edits), @"-c /nodes/0/id node `search` is `find` now: its steps have the name of its loop");
}

/// A flow with a signal and a question.
const ORDER: &str = r#"{
    "version": "2.0.0", "name": "Order",
    "nodes": [
        { "type": "flow.signal", "id": "stop", "params": { "expects": "Cancel" },
          "outputs": { "properties": { "reason": { "rustType": "String" } }, "required": ["reason"] },
          "actions": [{ "name": "default", "writes": ["reason"] }] },
        { "type": "flow.human", "id": "sure", "params": { "prompt": "Sure?", "expects": "Sure" },
          "actions": [{ "name": "default" }] }
    ],
    "edges": [{ "from": "stop", "to": "sure", "condition": "default" }],
    "ends": [{ "from": "sure", "condition": "default", "label": "default" }],
    "entryNodeId": "stop"
}"#;

#[test]
fn signals() {
    assert_snapshot!(lines(ORDER, &[("/nodes/0/params/expects", r#""Stop""#)]), @r#"
    -B /nodes/0/params/expects `stop`: param `expects` was "Cancel", and is "Stop"
    c- /nodes/0/params/expects signal `Stop` was added
    B- /nodes/0/params/expects signal `Cancel` was removed: whoever sends it is refused
    "#);
    // Its name stays, and what it writes is compared.
    assert_snapshot!(lines(ORDER, &[("/nodes/0/params/expects", r#""shop::Cancel@2.0.0""#)]), @r#"-c /nodes/0/params/expects `stop`: param `expects` was "Cancel", and is "shop::Cancel@2.0.0""#);
    let any = [
        ("/nodes/0/params", r#"{ "name": "Cancel" }"#),
        (
            "/nodes/0/outputs",
            r#"{ "properties": { "message": {} }, "required": ["message"] }"#,
        ),
        ("/nodes/0/actions/0/writes", r#"["message"]"#),
    ];
    assert_snapshot!(lines(ORDER, &any), @"
    BB /nodes/0/outputs/properties/message `stop` writes `message` instead of `reason`
    -B /nodes/0/params/name `stop`: param `name` was added
    -B /nodes/0/params/expects `stop`: param `expects` was removed
    ");
    assert_snapshot!(lines(ORDER, &[("/nodes/0/settings", r#"{ "timeout": "2d" }"#), ("/nodes/0/fallible", "true")]), @"
    -c /nodes/0/fallible `stop` can fail now
    -c /nodes/0/settings/timeout `stop`: setting `timeout` was added
    ");
    let routed = [
        ("/nodes/0/settings", r#"{ "timeout": "2d" }"#),
        ("/nodes/0/actions/-", r#"{ "name": "timeout" }"#),
        (
            "/ends/-",
            r#"{ "from": "stop", "condition": "timeout", "label": "default" }"#,
        ),
    ];
    assert_snapshot!(lines(ORDER, &routed), @r#"
    -c /nodes/0/actions/1 `stop` can also take "timeout"
    -c /nodes/0/settings/timeout `stop`: setting `timeout` was added
    -c /ends/1 edge `stop` - "timeout" to end "default" was added
    "#);
    let asked = [
        ("/nodes/0/type", r#""flow.human""#),
        (
            "/nodes/0/params",
            r#"{ "prompt": "Why?", "expects": "Cancel" }"#,
        ),
    ];
    assert_snapshot!(lines(ORDER, &asked), @"
    -B /nodes/0/type `stop` was a `flow.signal`, and is a `flow.human`
    -c /nodes/0/params/prompt `stop`: param `prompt` was added
    B- /nodes/0/params/expects signal `Cancel` was removed: whoever sends it is refused
    ");
    let sent = [
        ("/nodes/1/type", r#""flow.signal""#),
        ("/nodes/1/params", r#"{ "name": "sure" }"#),
    ];
    assert_snapshot!(lines(ORDER, &sent), @"
    -B /nodes/1/type `sure` was a `flow.human`, and is a `flow.signal`
    -c /nodes/1/params/name `sure`: param `name` was added
    -c /nodes/1/params/prompt `sure`: param `prompt` was removed
    -c /nodes/1/params/expects `sure`: param `expects` was removed
    c- /nodes/1/params/name signal `sure` was added
    ");
}

/// Whoever sends a signal calls the flow.
#[test]
fn what_is_sent() {
    let field = |name: &str| {
        format!(
            r#"{{ "properties": {{ "reason": {{ "rustType": "String" }}, "{name}": {{}} }}, "required": ["reason", "{name}"] }}"#
        )
    };
    let more = [
        ("/nodes/0/outputs", &*field("by")),
        ("/nodes/0/actions/0/writes", r#"["reason", "by"]"#),
    ];
    assert_snapshot!(lines(ORDER, &more), @"BB /nodes/0/outputs/properties/by `stop` also writes `by`");
    let retyped = r#"{ "rustType": "Reason" }"#;
    assert_snapshot!(lines(ORDER, &[("/nodes/0/outputs/properties/reason", retyped)]), @"BB /nodes/0/outputs/properties/reason `stop` writes: `reason` was `String`, and is `Reason`");
    let variant = r#"{ "name": "address" }"#;
    assert_snapshot!(lines(ORDER, &[("/nodes/0/actions/-", variant)]), @r#"cc /nodes/0/actions/1 `stop` can also take "address""#);
    assert_snapshot!(lines(ORDER, &[("/nodes/0/actions/0/name", r#""cancel""#), ("/edges/0/condition", r#""cancel""#)]), @r#"
    cc /nodes/0/actions/0 `stop` can also take "cancel"
    BB /nodes/0/actions/0 `stop` no longer takes "default"
    -c /edges/0 edge `stop` - "cancel" to `sure` was added
    -B /edges/0 edge `stop` - "default" to `sure` was removed
    "#);
    // It moves into a flow of its own.
    let stop: Value = serde_json::from_str::<Value>(ORDER).unwrap()["nodes"][0].clone();
    let inner = json!({ "type": "Stop", "id": "stop", "internalFlow": {
        "version": "2.0.0", "nodes": [stop], "edges": [],
        "ends": [{ "from": "stop", "condition": "default", "label": "default" }] } });
    let inner = inner.to_string();
    let moved = [("/nodes/0", ""), ("/nodes/-", &*inner)];
    assert_snapshot!(lines(ORDER, &moved), @"
    -B /nodes/1/type `stop` was a `flow.signal`, and is a `Stop`
    -c /nodes/1/actions `stop` no longer says its actions
    -B /nodes/0/outputs/properties/reason `stop` no longer writes `reason`
    -c /nodes/0/params/expects `stop`: param `expects` was removed
    -B /nodes/1 `stop` is a flow now
    ");
    // A flow that was left out may wait for it.
    let omitted = r#"{ "type": "Stop", "id": "stop", "internalFlowOmitted": true }"#;
    let moved = lines(ORDER, &[("/nodes/0", ""), ("/nodes/-", omitted)]);
    assert!(!moved.contains("signal `Cancel`"), "{moved}");
}

#[test]
fn as_json() {
    let diff = diff(&parse(OLD), &parse(NEW));
    let value = serde_json::to_value(&diff).unwrap();
    assert_eq!(
        value["changes"][0],
        json!({
            "path": "",
            "pointer": "/inputs/properties/request",
            "part": "input",
            "kind": "renamed",
            "message": "input `claim` was renamed to `request`",
            "callers": "breaking",
            "executions": "breaking"
        })
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_changed_between_a_document_and_itself(flow in documents()) {
        prop_assert!(diff(&flow, &flow.clone()).is_empty());
    }

    #[test]
    fn every_change_is_found((old, value) in changed()) {
        if let Ok(new) = FlowDocument::from_value(&value) {
            let forth = diff(&old, &new);
            prop_assert_eq!(forth.is_empty(), old == new, "{:#}", value);
            prop_assert_eq!(diff(&new, &old).is_empty(), old == new);
            let old = serde_json::to_value(&old).unwrap();
            let new = serde_json::to_value(&new).unwrap();
            for change in &forth.changes {
                let has = |value: &Value| value.pointer(&change.pointer).is_some();
                prop_assert!(has(&old) || has(&new), "{} is nowhere: {}", change.pointer, change);
            }
        }
    }

    #[test]
    fn a_diff_of_any_two_documents_ends((old, new) in (documents(), documents())) {
        prop_assert_eq!(diff(&old, &new).is_empty(), old == new);
    }
}

/// A flow with a node of this type and id that writes `name` to the key `key`, and a loop that runs `body`.
fn renamed(
    r#type: &str,
    id: &str,
    (name, key): (&str, &str),
    body: &str,
    settings: &Value,
) -> FlowDocument {
    let output =
        |name: &str| json!({ "properties": { name: { "rustType": "u64" } }, "required": [name] });
    let action = |name: &str| json!([{ "name": "default", "writes": [name] }]);
    let mapping = if name == key {
        json!({})
    } else {
        json!({ "outputs": { name: key } })
    };
    let value = json!({
        "version": "2.0.0",
        "name": "Shop",
        "namespace": "shop",
        "inputs": { "properties": { "items": { "rustType": "Vec<u64>" } }, "required": ["items"] },
        "nodes": [
            {
                "type": r#type, "id": id, "settings": settings, "mappings": mapping,
                "outputs": output(name), "actions": action(name),
            },
            {
                "type": "flow.each", "id": "all",
                "params": { "item": "item", "over": "items", "body": format!("all_{body}") },
                "inputs": { "properties": { "items": { "rustType": "Vec<u64>" } }, "required": ["items"] },
            },
            {
                "type": body, "id": format!("all_{body}"), "outputs": output(body), "actions": action(body),
            },
        ],
        "edges": [{ "from": id, "to": "all", "condition": "default" }],
        "ends": [{ "from": "all", "condition": "default", "label": "default" }],
        "entryNodeId": id,
    });
    parse(&value.to_string())
}

#[test]
fn the_function_of_a_step_does_not_matter() {
    let old = renamed("quote", "quote", ("quote", "quote"), "pack", &json!({}));
    let others = renamed(
        "get_quote",
        "quote",
        ("get_quote", "quote"),
        "wrap",
        &json!({}),
    );
    assert_snapshot!(diff(&old, &others), @r#"
    compatible:
      node `all_pack` is `all_wrap` now: its steps have the name of its loop (executions)
      `all_wrap` was a `pack`, and is a `wrap` (executions)
      `all_wrap` writes `wrap` instead of `pack` (executions)
      `quote` was a `quote`, and is a `get_quote` (executions)
      `quote` writes `get_quote` instead of `quote` (executions)
      `quote` writes to other keys (executions)
    "#);
    let other_key = renamed(
        "get_quote",
        "quote",
        ("get_quote", "get_quote"),
        "pack",
        &json!({}),
    );
    assert_snapshot!(diff(&old, &other_key), @r#"
    breaking:
      `quote` writes `get_quote` instead of `quote` (executions)
    compatible:
      `quote` was a `quote`, and is a `get_quote` (executions)
    "#);
}

#[test]
fn a_renamed_node_says_what_it_was() {
    let of =
        |id: &str, settings: Value| renamed("quote", id, ("quote", "quote"), "pack", &settings);
    let old = of("quote", json!({}));
    assert_snapshot!(diff(&old, &of("price", json!({}))), @r#"
    breaking:
      node `quote` was renamed to `price` (executions)
    "#);
    let new = of("price", json!({ "was": "quote" }));
    assert_snapshot!(diff(&old, &new), @r#"
    compatible:
      node `quote` is `price` now, which says that it was `quote` (executions)
    "#);
    assert_snapshot!(diff(&new, &of("price", json!({}))), @r#"
    compatible:
      `price`: setting `was` was removed (executions)
    "#);
    assert_snapshot!(diff(&new, &of("price", json!({ "was": "offer" }))), @r#"
    compatible:
      `price`: setting `was` was "quote", and is "offer" (executions)
    "#);
    assert_snapshot!(diff(&new, &of("cost", json!({ "was": "price" }))), @r#"
    compatible:
      node `price` is `cost` now, which says that it was `price` (executions)
    "#);
    // Whatever was another one by this name is gone.
    let mut both = old.clone();
    let mut other = old.nodes[0].clone();
    other.id = "price".to_owned();
    both.nodes.push(other);
    assert_snapshot!(diff(&both, &new), @r#"
    breaking:
      node `price` was removed (executions)
    compatible:
      node `quote` is `price` now, which says that it was `quote` (executions)
    "#);
}

#[test]
fn former_names_that_cannot_be_are_refused() {
    let said = |r#type: &str, was: &str| {
        let settings = json!({ "was": was });
        let mut flow = renamed("quote", "price", ("quote", "quote"), "pack", &settings);
        if r#type == "flow.wait" {
            flow.nodes[0] = serde_json::from_value::<Value>(json!({ "duration": "1s" }))
                .map(|params| flow_spec::NodeDocument {
                    r#type: r#type.to_owned(),
                    params: params.as_object().unwrap().clone(),
                    outputs: Default::default(),
                    actions: None,
                    ..flow.nodes[0].clone()
                })
                .unwrap();
        }
        let problems = flow.check().into_iter();
        let of_was = problems.filter(|problem| problem.pointer == "/nodes/0/settings/was");
        let texts: Vec<String> = of_was.map(|problem| problem.to_string()).collect();
        texts.join("\n")
    };
    assert_eq!(said("quote", "offer"), "");
    let malformed = said("quote", "shop.quote");
    assert!(
        malformed.contains("which is not a name [F016]"),
        "{malformed}"
    );
    assert!(
        malformed.contains("help: write the id that the node had in the flow, or remove it"),
        "{malformed}"
    );
    let taken = said("quote", "all");
    assert!(
        taken.contains("`price` cannot have been `all`, which another node is called [F017]"),
        "{taken}"
    );
    let wait = said("flow.wait", "pause");
    assert!(
        wait.contains("`price`, a `flow.wait`, cannot have a former name [F015]"),
        "{wait}"
    );
}
