//! The analysis of `flow!`, at JSON pointers and in words that one can follow in JSON.

use flow_spec::FlowDocument;
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::generate::documents;

/// What is wrong with a flow that can be read.
pub(crate) fn said(flow: Value) -> String {
    let flow = FlowDocument::from_value(&flow).expect("the document can be read");
    let lines: Vec<String> = flow.check().iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// A node that decides between these actions, each with what it writes.
pub(crate) fn node(id: &str, reads: &[&str], actions: &[(&str, &[&str])]) -> Value {
    let properties = |names: &mut dyn Iterator<Item = &str>| -> Value {
        names
            .map(|name| (name.to_owned(), json!({ "rustType": "String" })))
            .collect()
    };
    let mut written = actions
        .iter()
        .flat_map(|(_, writes)| writes.iter().copied());
    let actions: Vec<Value> = actions
        .iter()
        .map(|(name, writes)| json!({ "name": name, "writes": writes }))
        .collect();
    json!({
        "type": id, "id": id, "actions": actions,
        "inputs": { "properties": properties(&mut reads.iter().copied()), "required": reads },
        "outputs": { "properties": properties(&mut written) },
    })
}

pub(crate) fn step(id: &str) -> Value {
    node(id, &[], &[("default", &[])])
}

pub(crate) fn flow(
    nodes: &[Value],
    edges: &[(&str, &str, &str)],
    ends: &[(&str, &str, &str)],
) -> Value {
    let edges: Vec<Value> = edges
        .iter()
        .map(|(from, condition, to)| json!({ "from": from, "condition": condition, "to": to }))
        .collect();
    let ends: Vec<Value> = ends
        .iter()
        .map(|(from, condition, label)| json!({ "from": from, "condition": condition, "label": label }))
        .collect();
    json!({
        "version": "2.0.0", "name": "Approval", "nodes": nodes, "edges": edges, "ends": ends,
        "entryNodeId": nodes[0]["id"]
    })
}

/// What a program knows of its nodes need not stand in a document: only what is there can be wrong.
#[test]
fn a_node_may_leave_open_what_it_reads_and_writes() {
    let open = |id: &str| json!({ "type": id, "id": id });
    let mut draft = flow(
        &[
            open("judge"),
            node("pay", &["sum"], &[("default", &["receipt"])]),
        ],
        &[("judge", "fine", "pay")],
        &[
            ("judge", "refused", "refused"),
            ("pay", "default", "default"),
        ],
    );
    draft["inputs"] = json!({ "properties": { "claim": {} }, "required": ["claim"] });
    draft["outputs"] = json!({ "properties": { "receipt": {}, "reason": {} } });
    draft["nodes"][0]["mappings"] = json!({ "inputs": { "text": "claim" } });
    draft["edges"][0]["mappings"] = json!({ "amount": "sum" });
    assert_eq!(said(draft.clone()), "");

    // The way through the flow is checked all the same, and so is what is known of `pay`.
    let mut wrong = draft.clone();
    wrong["edges"] = json!([]);
    wrong["ends"][1]["condition"] = json!("paid");
    assert_snapshot!(said(wrong), @r#"
    /nodes/1: no edge leads to `pay` [F005]
    help: lead an edge to it from the step before it, or remove it
    /ends/1/condition: `pay` has no action "paid" [F001]
    help: write an action that the node has as `condition`, or add this one to its `actions`
    "#);

    // `judge` reads nothing, and writes nothing.
    draft["nodes"][0]["actions"] = json!([{ "name": "fine" }, { "name": "refused" }]);
    draft["nodes"][0]["mappings"] = json!({});
    assert_snapshot!(said(draft), @"
    /inputs/properties/claim: nothing reads the input `claim` [F019]
    help: remove it, or let a node read it
    /outputs/properties/reason: nothing writes the output `reason` [F015]
    help: let a node write it, or remove it
    /edges/0/mappings/amount: nothing writes `amount` [F015]
    help: let a node write `amount`, or remove this
    ");
}

fn verdict() -> Value {
    node(
        "review",
        &[],
        &[("approved", &["amount"]), ("rejected", &["reason"])],
    )
}

#[test]
fn actions() {
    let misspelt = flow(
        &[verdict()],
        &[],
        &[
            ("review", "aproved", "default"),
            ("review", "rejected", "rejected"),
        ],
    );
    assert_snapshot!(said(misspelt), @r#"
    /ends/0/condition: `review` has no action "aproved" [F001]
    help: did you mean "approved"?
    "#);
    let unrouted = flow(&[verdict()], &[], &[("review", "approved", "default")]);
    assert_snapshot!(said(unrouted), @r#"
    /nodes/0: action "rejected" of `review` goes nowhere [F002]
    help: add it as `condition` to `edges`, or to `ends` if the flow ends there
    "#);
    let plain = flow(&[verdict()], &[], &[("review", "default", "default")]);
    assert_snapshot!(said(plain), @r#"
    /ends/0/condition: `review` has no action "default": it takes "approved", "rejected" [F001]
    help: write an action that the node has as `condition`, or add this one to its `actions`
    "#);
    let nodes = [step("a"), step("b"), step("c")];
    let twice = flow(
        &nodes,
        &[("a", "default", "b"), ("a", "default", "c")],
        &[("b", "default", "x"), ("c", "default", "x")],
    );
    assert_snapshot!(said(twice), @"
    /edges/1/condition: `a` leads to two places: to `b` and to `c` [F003]
    it is routed here already (/edges/0/condition)
    help: remove one of them, or lead to a `flow.fork` that has both as branches
    ");
    let cannot = flow(
        &[step("a")],
        &[],
        &[("a", "default", "x"), ("a", "error", "failed")],
    );
    assert_snapshot!(said(cannot), @r#"
    /ends/1/condition: `a` cannot fail, so it never takes "error" [F013]
    help: set `fallible` of the node if it can fail, or remove this
    "#);
}

#[test]
fn branches() {
    let branch = |otherwise: &str| {
        let mut branch = node("size", &[], &[("large", &[]), ("small", &[])]);
        branch["type"] = json!("flow.branch");
        branch["params"] = json!({
            "cases": [{ "when": "true", "action": "large" }, { "when": "true", "action": "larg" }],
            "otherwise": otherwise,
        });
        let ends = [("size", "large", "default"), ("size", "small", "small")];
        said(flow(&[branch], &[], &ends))
    };
    assert_snapshot!(branch("small"), @r#"
    /nodes/0/params/cases/1/action: `size` lists no action "larg" [F001]
    help: did you mean "large"?
    "#);
    assert_snapshot!(branch("medium"), @r#"
    /nodes/0/params/cases/1/action: `size` lists no action "larg" [F001]
    help: did you mean "large"?
    /nodes/0/params/otherwise: `size` lists no action "medium" [F001]
    help: there is "large", "small"
    "#);
}

#[test]
fn ways() {
    let unreachable = flow(
        &[step("a"), step("b")],
        &[],
        &[("a", "default", "x"), ("b", "default", "x")],
    );
    assert_snapshot!(said(unreachable), @"
    /nodes/1: no edge leads to `b` [F005]
    help: lead an edge to it from the step before it, or remove it
    ");
    let trapped = flow(
        &[step("a"), step("b")],
        &[("a", "default", "b"), ("b", "default", "a")],
        &[],
    );
    assert_snapshot!(said(trapped), @r#"
    /nodes/0: no path leads from `a` to an `end` [F006]
    this loop has no way out: a - "default" >> b - "default" >> a
    help: let a node of the loop choose between two actions, one of which leads out of it
    "#);
    let mut twice = flow(&[step("a")], &[], &[("a", "default", "x")]);
    twice["ends"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "label": "y" }));
    assert_snapshot!(said(twice), @r#"
    /ends/1/label: the flow starts twice: with `a` and with `end("y")` [F018]
    the first `start` is here (/entryNodeId)
    help: remove one of them
    "#);
    let reserved = flow(&[step("start")], &[], &[("start", "default", "error")]);
    assert_snapshot!(said(reserved), @r#"
    /nodes/0: a node cannot be called `start`, which is a word of the language [F017]
    help: give it another name
    /ends/0/label: the label "error" is reserved for a flow that has failed [F017]
    help: give it another name
    "#);
    let ends = [
        ("review", "approved", "not_paid"),
        ("review", "rejected", "not-paid"),
    ];
    assert_snapshot!(said(flow(&[verdict()], &[], &ends)), @r#"
    /ends/1/label: the labels "not_paid" and "not-paid" are both `NotPaid` [F017]
    the first one is here (/ends/0/label)
    help: write both alike, or name one of them otherwise
    "#);
}

#[test]
fn values() {
    let pay = || node("pay", &["amount"], &[("default", &["receipt"])]);
    let ends = [("pay", "default", "default")];
    let some_path = flow(
        &[verdict(), pay()],
        &[("review", "approved", "pay"), ("review", "rejected", "pay")],
        &ends,
    );
    assert_snapshot!(said(some_path), @r#"
    /edges/1/to: `pay` reads `amount`, which is not written on every path to it [F007]
    this path does not write it: start >> review - "rejected" >> pay
    `review` writes `amount` only on "approved"
    help: write it before, remove it from `required` in the `inputs` of the node, or add it to those of the flow
    "#);
    let nothing = flow(&[pay()], &[], &ends);
    assert_snapshot!(said(nothing.clone()), @"
    /nodes/0/inputs/properties/amount: `pay` reads `amount`, which nothing writes [F007]
    help: write it before, remove it from `required` in the `inputs` of the node, or add it to those of the flow
    ");
    let mut optional = nothing.clone();
    optional["inputs"] = json!({ "properties": { "amount": { "rustType": "String" } } });
    assert_snapshot!(said(optional.clone()), @"
    /nodes/0: `pay` reads `amount`, which the caller may leave out [F007]
    `amount` is declared as an `Option` here (/inputs/properties/amount)
    help: remove it from `required` in the `inputs` of the node, or add it to `required` in those of the flow
    ");
    optional["inputs"]["required"] = json!(["amount"]);
    optional["inputs"]["properties"]["amount"]["rustType"] = json!("u64");
    assert_snapshot!(said(optional), @"
    /nodes/0: `pay` reads `amount` as `String`, but the input is `u64` [F008]
    `amount` is `u64` here (/inputs/properties/amount)
    help: read the type that is written, or map the read to another key
    ");
    let mut output = nothing;
    output["nodes"][0]["inputs"] = json!({});
    output["outputs"] =
        json!({ "properties": { "bill": {}, "reciept": {} }, "required": ["bill"] });
    assert_snapshot!(said(output), @"
    /outputs/properties/bill: nothing writes the output `bill` [F015]
    help: let a node write it, or remove it
    /outputs/properties/reciept: nothing writes the output `reciept` [F015]
    help: did you mean `receipt`?
    ");
    let mut unused = flow(&[step("a")], &[], &[("a", "default", "x")]);
    unused["inputs"] = json!({ "properties": { "claim": {} } });
    assert_snapshot!(said(unused), @"
    /inputs/properties/claim: nothing reads the input `claim` [F019]
    help: remove it, or let a node read it
    ");
}

#[test]
fn forks() {
    let fork = |branches: Value| {
        json!({
            "type": "flow.fork", "id": "both", "actions": [{ "name": "default" }],
            "params": { "branches": branches }
        })
    };
    let writer = |id| node(id, &[], &[("default", &["score"])]);
    let ends = [("both", "default", "x")];
    let clash = flow(
        &[fork(json!([["a"], ["b"]])), writer("a"), writer("b")],
        &[],
        &ends,
    );
    assert_snapshot!(said(clash), @"
    /nodes/2: `b` writes `score`, and so does `a` at the same time [F010]
    `a` writes `score` (/nodes/1)
    help: map one of them to another key in the `mappings` of its node, or put one node after the other
    ");
    let again = flow(&[fork(json!([["a"], ["a"]])), step("a")], &[], &ends);
    assert_snapshot!(said(again), @"
    /nodes/1: `a` stands twice in `both` [F020]
    help: let it stand there once and without edges of its own; add a second node for a second place
    ");
    let leaves = flow(
        &[fork(json!([["a"], ["b"]])), step("a"), step("b")],
        &[("a", "default", "both")],
        &ends,
    );
    assert_snapshot!(said(leaves), @"
    /edges/0/from: `a` stands inside `both`, so no edge can leave it [F020]
    help: let it stand there once and without edges of its own; add a second node for a second place
    ");
}

/// Each verdict is collected, and the loop goes on.
#[test]
fn what_a_loop_runs_may_decide() {
    let each = json!({
        "type": "flow.each", "id": "all", "actions": [{ "name": "default" }],
        "params": { "item": "claim", "over": "claims", "body": "review" },
    });
    let flow = flow(&[each, verdict()], &[], &[("all", "default", "x")]);
    assert_eq!(said(flow), "");
}

#[test]
fn mappings_of_edges() {
    let mut mapped = flow(
        &[
            verdict(),
            node("pay", &["sum"], &[("default", &["receipt"])]),
        ],
        &[("review", "approved", "pay")],
        &[("review", "rejected", "x"), ("pay", "default", "x")],
    );
    mapped["edges"][0]["mappings"] = json!({ "amount": "sum" });
    assert_eq!(said(mapped.clone()), "");
    let changed = |pointer: &str, value: Value| {
        let mut flow = mapped.clone();
        *flow.pointer_mut(pointer).expect("it is there") = value;
        said(flow)
    };
    assert_snapshot!(changed("/edges/0/mappings", json!({ "sum": "amount" })), @"
    /edges/0/mappings/sum: `pay` does not read `amount` [F015]
    help: swap the two: the key that has the value comes first, and the key that is read is its value
    ");
    assert_snapshot!(changed("/edges/0/mappings", json!({ "amonut": "sum" })), @"
    /edges/0/mappings/amonut: nothing writes `amonut` [F015]
    help: did you mean `amount`?
    ");
    mapped["ends"][1]["mappings"] = json!({ "receipt": "bill" });
    assert_snapshot!(said(mapped.clone()), @"
    /ends/1/mappings/receipt: `bill` is not an output of the flow [F015]
    help: the flow returns nothing: declare the output `bill`, or remove this
    ");
    mapped["entryMappings"] = json!({ "claim": "sum" });
    assert_snapshot!(said(mapped), @"
    /entryMappings/claim: `review` does not read `sum` [F015]
    help: `review` reads nothing: write this on the edge to the node that reads `sum`, or remove this
    /ends/1/mappings/receipt: `bill` is not an output of the flow [F015]
    help: the flow returns nothing: declare the output `bill`, or remove this
    ");
}

#[test]
fn mappings() {
    let mut clash = flow(
        &[node("price", &[], &[("default", &["net", "gross"])])],
        &[],
        &[("price", "default", "x")],
    );
    clash["nodes"][0]["mappings"] = json!({ "outputs": { "gross": "net" } });
    assert_snapshot!(said(clash), @"
    /nodes/0/mappings/outputs/gross: `price` writes both `net` and `gross` to `net` [F021]
    help: give each its own key
    ");
    let mut near = flow(
        &[verdict(), node("pay", &["amont"], &[("default", &[])])],
        &[("review", "approved", "pay")],
        &[("review", "rejected", "x"), ("pay", "default", "x")],
    );
    assert_snapshot!(said(near.clone()), @"
    /nodes/1/inputs/properties/amont: `pay` reads `amont`, which nothing writes [F007]
    help: did you mean `amount`? Rename it, or map it in the `mappings` of the node
    ");
    near["nodes"][1]["mappings"] = json!({ "inputs": { "amont": "amount" } });
    assert_eq!(said(near), "");
}

#[test]
fn a_node_says_what_its_flow_says() {
    let mut inner = flow(
        &[node("pay", &["amount"], &[("default", &["receipt"])])],
        &[],
        &[("pay", "default", "paid")],
    );
    inner["name"] = json!("Payment");
    inner["inputs"] = json!({ "properties": { "amount": {} }, "required": ["amount"] });
    inner["outputs"] = json!({ "properties": { "receipt": {} }, "required": ["receipt"] });
    let mut outer = node("payment", &["amuont"], &[("payed", &["bill"])]);
    outer["internalFlow"] = inner;
    let mut flow = flow(&[outer], &[], &[("payment", "payed", "default")]);
    flow["inputs"] = json!({ "properties": { "amuont": {} }, "required": ["amuont"] });
    assert_snapshot!(said(flow), @r#"
    /nodes/0/actions/0: `Payment` has no end "payed", so that `payment` never decides so [F001]
    help: there is "paid"
    /nodes/0/actions: `Payment` ends with "paid", which is not an action of `payment` [F002]
    help: add it: `{ "name": "paid" }`
    /nodes/0/inputs/properties/amuont: `Payment` takes no `amuont` [F015]
    help: did you mean `amount`?
    /nodes/0/outputs/properties/bill: `Payment` returns no `bill` [F015]
    help: there is `receipt`
    /nodes/0: `Payment` returns `receipt`, which is not among the outputs of `payment` [F015]
    help: add `receipt` to its `outputs`
    "#);
}

/// `pay` runs only if the review approves; `log` writes a note on the way to one of two ends.
fn payment() -> Value {
    let mut payment = flow(
        &[
            node(
                "review",
                &[],
                &[("approved", &[]), ("unclear", &[]), ("refused", &[])],
            ),
            node("pay", &[], &[("default", &["receipt"])]),
            node("log", &[], &[("default", &["note"])]),
        ],
        &[("review", "approved", "pay"), ("review", "unclear", "log")],
        &[
            ("pay", "default", "default"),
            ("review", "refused", "refused"),
            ("log", "default", "refused"),
        ],
    );
    payment["name"] = json!("Payment");
    payment["outputs"] = json!({ "properties": { "receipt": {}, "note": {} } });
    payment
}

#[test]
fn a_node_writes_what_its_flow_writes_at_its_ends() {
    let outer = |actions: &[(&str, &[&str])]| {
        let mut outer = node("payment", &[], actions);
        outer["internalFlow"] = payment();
        let reader = node("file", &["receipt"], &[("default", &[])]);
        let edges = [("payment", "default", "file")];
        let ends = [
            ("file", "default", "default"),
            ("payment", "refused", "refused"),
        ];
        flow(&[outer, reader], &edges, &ends)
    };
    let mut sound = outer(&[("default", &["receipt"]), ("refused", &[])]);
    sound["nodes"][0]["actions"][1]["mayWrite"] = json!(["note"]);
    sound["nodes"][0]["outputs"]["properties"]["note"] = json!({});
    assert_eq!(said(sound), "");
    let claims = outer(&[
        ("default", &["receipt", "note"]),
        ("refused", &["receipt", "note"]),
    ]);
    assert_snapshot!(said(claims), @r#"
    /nodes/0/actions/0/writes/1: `payment` writes `note` on "default", but `Payment` does not write it at that end [F011]
    help: remove it
    /nodes/0/actions/1/writes/0: `payment` writes `receipt` on "refused", but `Payment` does not write it at that end [F011]
    help: remove it
    /nodes/0/actions/1/writes/1: `payment` writes `note` on "refused", but `Payment` may leave it unwritten at that end [F011]
    help: list it under `mayWrite` instead
    "#);
}

/// What a document of an earlier version of the project says: less than is known.
#[test]
fn a_node_may_say_less_than_its_flow_writes() {
    let mut outer = node("payment", &[], &[("default", &[]), ("refused", &[])]);
    outer["internalFlow"] = payment();
    outer["outputs"] = json!({ "properties": { "receipt": {}, "note": {} } });
    for action in 0..2 {
        outer["actions"][action]["mayWrite"] = json!(["receipt", "note"]);
    }
    let ends = [
        ("payment", "default", "default"),
        ("payment", "refused", "refused"),
    ];
    assert_eq!(said(flow(&[outer], &[], &ends)), "");
}

#[test]
fn a_node_without_actions_writes_nothing_when_it_fails() {
    let value = json!({ "type": "object", "properties": { "answer": {} }, "required": ["answer"] });
    let mut ask = json!({ "type": "ask", "id": "ask", "outputs": value, "fallible": true });
    let report = json!({ "type": "report", "id": "report", "inputs": value });
    let unsound = |ask: &Value| {
        said(flow(
            &[ask.clone(), report.clone()],
            &[("ask", "error", "report")],
            &[
                ("ask", "default", "default"),
                ("report", "default", "failed"),
            ],
        ))
    };
    assert_snapshot!(unsound(&ask), @r#"
    /edges/0/to: `report` reads `answer`, which is not written on every path to it [F007]
    this path does not write it: start >> ask - "error" >> report
    `ask` has failed on this path, so it wrote nothing
    help: write it before, remove it from `required` in the `inputs` of the node, or add it to those of the flow
    "#);
    // In documents of other tools, "error" may be an action like any other.
    ask["fallible"] = false.into();
    assert_eq!(unsound(&ask), "");
}

#[test]
fn a_document_that_a_program_put_together_is_read_first() {
    let mut flow = FlowDocument::new("Qa", "qa");
    flow.entry_node_id = Some("answer".to_owned());
    let problems = flow.check();
    assert_eq!(problems.len(), 1);
    assert_eq!(
        problems[0].to_string().lines().next(),
        Some("/nodes: the flow has no nodes [F018]")
    );
    assert_eq!(flow.graph(), Err(problems));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn advice_can_be_followed_in_json(flow in documents()) {
        let value = serde_json::to_value(&flow).unwrap();
        for problem in flow.check() {
            prop_assert!(value.pointer(&problem.pointer).is_some(), "{} is nowhere", problem.pointer);
            let help = problem.help.unwrap_or_default();
            for syntax in [";`", "`node ", "#[node", "<-", "->"] {
                prop_assert!(!help.contains(syntax), "{help}");
            }
        }
    }
}

/// A node that waits for a signal and writes these keys.
fn signal(id: &str, params: Value, writes: &[&str]) -> Value {
    let mut signal = node(id, &[], &[("default", writes)]);
    signal["type"] = json!("flow.signal");
    signal["params"] = params;
    signal
}

#[test]
fn signals() {
    let stop = signal("stop", json!({ "expects": "Cancel" }), &["reason"]);
    let draft = flow(
        std::slice::from_ref(&stop),
        &[],
        &[("stop", "default", "default")],
    );
    assert_eq!(said(draft.clone()), "");
    let mut open = draft.clone();
    open["nodes"][0] = json!({ "type": "flow.signal", "id": "stop", "params": { "name": "stop" } });
    assert_eq!(said(open), "");

    let mut idle = draft.clone();
    idle["nodes"][0]["settings"] = json!({
        "retry": { "attempts": 3 }, "timeout": "2d", "poll": { "every": "1s" }, "concurrency": 2, "spread": 2,
        "blocking": true, "transaction": true, "collectErrors": true
    });
    idle["nodes"][0]["inputs"] =
        json!({ "properties": { "order": { "rustType": "String" } }, "required": ["order"] });
    idle["inputs"] =
        json!({ "properties": { "order": { "rustType": "String" } }, "required": ["order"] });
    assert_snapshot!(said(idle), @"
    /nodes/0/settings/retry: `stop` waits for one signal, so there is nothing to retry [F015]
    help: remove `retry`; `timeout` says how long it waits
    /nodes/0/settings/concurrency: `concurrency` does nothing for `stop`, which is a single step [F015]
    help: it is a setting of a fork or of a loop over items
    /nodes/0/settings/spread: `spread` does nothing for `stop` [F015]
    help: it is a setting of a loop over items
    /nodes/0/settings/collectErrors: `collectErrors` does nothing for `stop` [F015]
    help: it is a setting of a loop over items
    /nodes/0/settings/poll: `poll` does nothing for `stop` [F015]
    help: it is a setting of a node that is code
    /nodes/0/settings/blocking: `blocking` does nothing for `stop` [F015]
    help: it is a setting of a node that is code
    /nodes/0/settings/transaction: `transaction` does nothing for `stop` [F015]
    help: it is a setting of a node that is code
    /nodes/0/inputs: `stop` waits for a signal, and reads nothing [F015]
    help: remove `inputs`
    ");

    let mut late = draft;
    late["ends"] = json!([
        { "from": "stop", "condition": "default", "label": "default" },
        { "from": "stop", "condition": "timeout", "label": "late" },
        { "from": "stop", "condition": "error", "label": "failed" }
    ]);
    assert_snapshot!(said(late), @r#"
    /ends/1/condition: `stop` has no action "timeout" [F001]
    help: give the node a `timeout` in its `settings`, and add this action to its `actions`; or remove this
    /ends/2/condition: `stop` cannot fail, so it never takes "error" [F013]
    help: say how long `stop` waits, by a `timeout`, or remove this edge
    "#);
}

#[test]
fn a_signal_is_of_one_type_in_all_of_a_flow() {
    let mut inner = flow(
        &[signal("stop", json!({ "name": "Cancel" }), &["message"])],
        &[],
        &[("stop", "default", "default")],
    );
    inner["name"] = json!("Inner");
    let mut outer = step("inner");
    outer["internalFlow"] = inner;
    let nodes = [
        signal("first", json!({ "expects": "Cancel" }), &["reason"]),
        signal("again", json!({ "expects": "Cancel" }), &["reason"]),
        signal("other", json!({ "expects": "shop::Cancel" }), &["reason"]),
        outer,
    ];
    let edges = [
        ("first", "default", "again"),
        ("again", "default", "other"),
        ("other", "default", "inner"),
    ];
    let flow = flow(&nodes, &edges, &[("inner", "default", "default")]);
    assert_snapshot!(said(flow), @"
    /nodes/2/params/expects: `other` waits for a `shop::Cancel` as the signal `Cancel`, and `first` for a `Cancel` [F017]
    it waits here (/nodes/0)
    help: expect one type in both, or give one signal another name: who sends it says only the name
    /nodes/3/internalFlow/nodes/0/params/name: `stop` waits for any JSON as the signal `Cancel`, and `first` for a `Cancel` [F017]
    it waits here (/nodes/0)
    help: expect one type in both, or give one signal another name: who sends it says only the name
    ");
}
