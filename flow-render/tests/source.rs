//! Documents as `flow!`. That the text compiles to the same documents is tested where their nodes
//! are.

use flow_render::source;
use flow_spec::FlowDocument;
use flow_text::{Format, read};
use insta::assert_snapshot;

fn flow(text: &str) -> FlowDocument {
    match read(text.as_bytes(), Format::Yaml) {
        Ok(document) => document.into_flow(),
        Err(problems) => panic!("{problems:#?}"),
    }
}

fn said(text: &str) -> String {
    match source(&flow(text)) {
        Ok(text) => text,
        Err(unsaid) => unsaid.iter().map(|one| format!("{one}\n")).collect(),
    }
}

#[test]
fn every_kind_of_node() {
    let text = "\
version: 2.0.0
namespace: shop.orders
name: Orders
nodes:
  - type: flow.each
    id: checked
    params: { item: order, over: orders, body: checked-check }
    settings: { concurrency: 4, collectErrors: true }
  - type: flow.human
    id: approval
    params: { prompt: 'Ship?', expects: Approval }
    settings: { timeout: 2h }
  - type: flow.fork
    id: both
    params: { branches: [[pack, label], [wait]] }
    settings: { concurrency: 2 }
  - type: 'Ask<Model>'
    id: type
    settings: { retry: { attempts: 3, backoff: 2, maxWait: 1m, if: 'Status::is_transient' } }
    mappings: { inputs: { text: draft }, outputs: { ask: opinion } }
    inputs: { type: object, properties: { text: {} } }
    outputs: { type: object, properties: { ask: {} } }
  - type: flow.branch
    id: large
    params: { cases: [{ when: '*total > 10', action: large }], otherwise: small }
    inputs: { type: object, properties: { total: {} } }
  - { type: pack, id: pack }
  - { type: label, id: label }
  - { type: flow.wait, id: wait, params: { duration: 5s } }
  - { type: check, id: checked-check }
edges:
  - { from: checked, to: large, condition: default, mappings: { sum: total } }
  - { from: large, to: approval, condition: large }
  - { from: large, to: both, condition: small }
  - { from: approval, to: both, condition: approved }
  - { from: both, to: type, condition: default }
ends:
  - { from: approval, condition: timeout, label: late }
  - { from: type, condition: default, label: default, mappings: { opinion: result } }
entryNodeId: checked
entryMappings: { list: orders }
";
    assert_snapshot!(said(text), @r#"
    flow! {
        Orders() {
            namespace "shop.orders";

            node checked: for order in orders { check } with concurrency(4), collect_errors;
            node approval: human Approval with timeout = "2h";
            node both: [pack >> label, wait(5s)] with concurrency(2);
            node r#type: Ask<Model> { text <- draft, ask -> opinion }
                with retry(attempts = 3, backoff = 2.0, max_wait = "1m", if = Status::is_transient);
            branch large(total) {
                *total > 10 => "large",
                else => "small",
            }

            start >> checked { orders <- list } >> large { total <- sum };
            large    - "large"    >> approval;
            large    - "small"    >> both;
            approval - "approved" >> both >> r#type;
            approval - "timeout"  >> end("late");
            r#type >> end { result <- opinion };
        }
    }
    "#);
}

/// The nodes in the branches come in the order of the races, so nothing else needs a declaration.
#[test]
fn races() {
    let text = "\
version: 2.0.0
namespace: order
name: Order
nodes:
  - type: flow.first
    id: outcome
    params:
      branches:
        - { steps: [fulfil, pack], action: shipped }
        - { steps: [approval] }
        - { steps: [wait], action: 'too \"late\"' }
  - type: flow.first
    id: answer
    params: { branches: [{ steps: [first] }, { steps: [wait_2], action: default }] }
  - { type: first, id: named, mappings: { inputs: { text: draft } }, inputs: { type: object, properties: { text: {} } } }
  - { type: fulfil, id: fulfil }
  - { type: pack, id: pack }
  - { type: flow.human, id: approval, params: { prompt: 'Ship?', expects: Approval } }
  - { type: flow.wait, id: wait, params: { duration: 2days } }
  - { type: first, id: first }
  - { type: flow.wait, id: wait_2, params: { duration: 10s } }
  - { type: mail, id: mail }
edges:
  - { from: outcome, to: mail, condition: shipped }
  - { from: outcome, to: answer, condition: approved }
  - { from: mail, to: answer, condition: default }
  - { from: answer, to: named, condition: default }
ends:
  - { from: outcome, condition: 'too \"late\"', label: late }
  - { from: named, condition: default, label: default }
entryNodeId: outcome
";
    assert_snapshot!(said(text), @r#"
    flow! {
        Order() {
            node outcome: first {
                fulfil >> pack => "shipped",
                Approval,
                wait(2days) => "too \"late\"",
            };
            node answer: first { first, wait(10s) => "default" };
            node named: first { text <- draft };

            start >> outcome;
            outcome - "shipped"      >> mail;
            outcome - "approved"     >> answer;
            outcome - "too \"late\"" >> end("late");
            mail >> answer >> named >> end;
        }
    }
    "#);
}

/// A signal is mentioned by its type, or declared with its name, its timeout or its keys.
#[test]
fn signals() {
    let text = "\
version: 2.0.0
namespace: order
name: Order
nodes:
  - type: flow.signal
    id: stop
    params: { expects: CancelRequest }
    settings: { timeout: 2days }
    outputs: { type: object, properties: { reason: {}, by: { add: true } } }
    mappings: { outputs: { reason: why } }
  - type: flow.first
    id: outcome
    params:
      branches:
        - { steps: [fulfil], action: shipped }
        - { steps: [cancel_request], action: cancelled }
        - { steps: [change_request] }
  - { type: fulfil, id: fulfil }
  - { type: flow.signal, id: cancel_request, params: { expects: CancelRequest } }
  - { type: flow.signal, id: change_request, params: { expects: ChangeRequest } }
  - { type: flow.signal, id: paid, params: { expects: Paid } }
edges:
  - { from: stop, to: outcome, condition: timeout }
  - { from: outcome, to: paid, condition: shipped }
ends:
  - { from: stop, condition: default, label: cancelled }
  - { from: outcome, condition: cancelled, label: cancelled }
  - { from: outcome, condition: address, label: changed }
  - { from: paid, condition: default, label: default }
entryNodeId: stop
";
    assert_snapshot!(said(text), @r#"
    flow! {
        Order() {
            node stop: signal CancelRequest { reason -> why, by -> +by } with timeout = "2days";
            node outcome: first { fulfil => "shipped", CancelRequest => "cancelled", ChangeRequest };

            start >> stop >> end("cancelled");
            stop    - "timeout"   >> outcome;
            outcome - "shipped"   >> Paid;
            outcome - "cancelled" >> end("cancelled");
            outcome - "address"   >> end("changed");
            Paid >> end;
        }
    }
    "#);
}

/// An undo node is named by its path, unless it is declared for its settings, its keys or its name. The steps `undo` and
/// `commit` are in one edge each.
#[test]
fn undo() {
    let text = "\
version: 2.0.0
namespace: order
name: Order
nodes:
  - { type: reserve, id: reserve, settings: { undo: release } }
  - { type: charge, id: charge, settings: { undo: refund, retry: { attempts: 5 }, timeout: 5s } }
  - { type: charge, id: charge_more, settings: { undo: refund } }
  - { type: refund, id: refund, settings: { retry: { attempts: 3 } } }
  - { type: insure, id: insure, settings: { undo: lapse } }
  - { type: end_insurance, id: lapse }
  - { type: ship, id: ship }
  - { type: flow.commit, id: commit }
  - { type: mail, id: mail }
  - { type: flow.undo, id: undo }
  - { type: flow.undo, id: undo_2 }
  - { type: release, id: release }
edges:
  - { from: reserve, to: charge, condition: default }
  - { from: charge, to: charge_more, condition: default }
  - { from: charge_more, to: insure, condition: default }
  - { from: insure, to: ship, condition: default }
  - { from: ship, to: commit, condition: default }
  - { from: commit, to: mail, condition: default }
  - { from: ship, to: undo, condition: error }
  - { from: mail, to: undo_2, condition: error }
  - { from: undo_2, to: charge, condition: default }
ends:
  - { from: mail, condition: default, label: default }
  - { from: undo, condition: default, label: refused }
entryNodeId: reserve
";
    assert_snapshot!(said(text), @r#"
    flow! {
        Order() {
            node reserve: reserve with undo = release;
            node charge: charge with undo = refund, retry(attempts = 5), timeout = "5s";
            node charge_more: charge with undo = refund;
            node refund: refund with retry(attempts = 3);
            node insure: insure with undo = lapse;
            node lapse: end_insurance;

            start >> reserve >> charge >> charge_more >> insure >> ship >> commit >> mail >> end;
            ship - "error" >> undo >> end("refused");
            mail - "error" >> undo >> charge;
        }
    }
    "#);
}

#[test]
fn what_flow_cannot_say_of_undo() {
    let text = "\
version: 2.0.0
name: Order
nodes:
  - { type: charge, id: charge, settings: { undo: give-back } }
  - { type: 'bank@1.0.0', id: give-back }
  - { type: flow.undo, id: take_back }
  - { type: flow.commit, id: commit_2 }
  - { type: ship, id: ship }
  - { type: flow.wait, id: wait, params: { duration: 5s }, settings: { undo: give-back } }
edges:
  - { from: charge, to: ship, condition: default }
  - { from: ship, to: commit_2, condition: default }
  - { from: ship, to: take_back, condition: error }
  - { from: charge, to: take_back, condition: error }
  - { from: commit_2, to: wait, condition: default }
entryNodeId: charge
";
    assert_snapshot!(said(text), @"
    /edges/3/to: a second edge leads to the step `take_back`, which `flow!` writes in one edge
    /nodes/3/id: the step `commit` has no name in `flow!`, and would be `commit`
    /nodes/2/id: the step `undo` has no name in `flow!`, and would be `undo`
    /nodes/1/id: the id `give-back` is not a name of a node in `flow!`
    /nodes/1/type: `bank@1.0.0` is not a name in Rust
    /nodes/5/settings/undo: `wait` cannot have an undo node in `flow!`
    ");
}

#[test]
fn what_flow_cannot_say_of_questions_and_signals() {
    let text = "\
version: 2.0.0
name: Order
nodes:
  - { type: flow.human, id: ask, params: { prompt: 'Ship?' } }
  - { type: flow.signal, id: stop, params: { name: cancel } }
  - { type: flow.human, id: again, params: { prompt: 'Ship?', expects: 'Approval; node evil: f' } }
  - { type: flow.signal, id: paid, params: { expects: 'Paid@1.0.0' } }
edges:
  - { from: ask, to: stop, condition: default }
  - { from: stop, to: again, condition: default }
  - { from: again, to: paid, condition: default }
entryNodeId: ask
";
    assert_snapshot!(said(text), @"
    /nodes/0/params: the answer to `ask` may be any JSON, and has a type in `flow!`
    /nodes/1/params: the signal of `stop` may be any JSON, and has a type in `flow!`
    /nodes/2/params/expects: `Approval; node evil: f` is not a name in Rust
    /nodes/3/params/expects: `Paid@1.0.0` is not a name in Rust
    ");
}

#[test]
fn what_flow_cannot_say_of_a_race() {
    let text = "\
version: 2.0.0
name: Order
nodes:
  - { type: flow.first, id: the-first, params: { branches: [{ steps: [pack], action: shipped }, { steps: [pause] }] } }
  - { type: 'a.pack', id: pack }
  - { type: flow.wait, id: pause, params: { duration: 5s } }
edges: []
ends:
  - { from: the-first, condition: shipped, label: default }
  - { from: the-first, condition: default, label: late }
entryNodeId: the-first
";
    assert_snapshot!(said(text), @"
    /nodes/2/id: a pause has no name in `flow!`, and would be `wait`
    /nodes/0/id: the id `the-first` is not a name of a node in `flow!`
    /nodes/1/type: `a.pack` is not a name in Rust
    ");
}

/// Whether the program's node adds by itself is not in a document, so it is always said.
#[test]
fn what_is_added() {
    let text = "\
version: 2.0.0
namespace: notes
name: Notes
outputs: { type: object, properties: { log: { rustType: 'Vec<String>' } }, required: [log] }
nodes:
  - { type: note, id: note, outputs: { type: object, properties: { log: { add: true } } } }
  - { type: look_up, id: look_up, mappings: { outputs: { look_up: log } }, outputs: { type: object, properties: { look_up: { add: true } } } }
entryNodeId: note
edges:
  - { from: note, to: look_up, condition: default }
ends:
  - { from: look_up, condition: default, label: default }
";
    let said = said(text);
    assert!(said.contains("node note: note { log -> +log };"), "{said}");
    assert!(
        said.contains("node look_up: look_up { look_up -> +log };"),
        "{said}"
    );
}

#[test]
fn what_flow_cannot_say() {
    let text = "\
version: 2.0.0
name: a-b
dependencies: { model: 1.0.0 }
inputs:
  type: object
  properties:
    unknown: { default: 3 }
    small: { rustType: u8, default: 300 }
    given: { rustType: Policy, default: { limit: 3 } }
    omitted: { rustType: u8, defaultOmitted: true }
    half: { rustType: 'Vec<u8' }
    x-y: { rustType: u8 }
    maybe: { rustType: 'Option<u8>' }
  required: [unknown, half, x-y, maybe]
nodes:
  - { type: chat.complete, id: step-1, params: { model: large } }
  - { type: flow.wait, id: pause, params: { duration: 5s } }
  - { type: f, id: end }
edges:
  - { from: step-1, to: pause, condition: default }
  - { from: step-1, to: pause, condition: error }
  - { from: pause, to: end, condition: default }
ends:
  - { from: end, condition: default, label: default }
entryNodeId: step-1
";
    assert_snapshot!(said(text), @"
    /name: the flow's name `a-b` is not a name in Rust
    /dependencies: `flow!` does not say what a flow needs from outside
    /inputs/properties/unknown: the type of `unknown` is not known
    /inputs/properties/small/default: the default of `small` is not a literal of `u8`
    /inputs/properties/given/default: the default of `given` is not a literal of `Policy`
    /inputs/properties/omitted/defaultOmitted: `omitted` has a default that the document does not say
    /inputs/properties/half/rustType: `Vec<u8` is not a type in Rust
    /inputs/properties/x-y: the key `x-y` is not a name in Rust
    /inputs/properties/maybe: `maybe` is an `Option`, and so may be missing in `flow!`
    /edges/1/to: a second edge leads to the pause `pause`, which `flow!` writes in one edge
    /nodes/1/id: a pause has no name in `flow!`, and would be `wait`
    /nodes/0/id: the id `step-1` is not a name of a node in `flow!`
    /nodes/0/type: `chat.complete` is not a name in Rust
    /nodes/0/params: the settings of `step-1` are Rust values in a program
    /nodes/2/id: the id `end` is not a name of a node in `flow!`
    ");
}

/// Text of a document cannot become other statements.
#[test]
fn nothing_is_smuggled_in() {
    for part in [
        "f; } } fn evil() {",
        "f // ",
        "f /*",
        "f\\\" >> end; //",
        "f { a <- b }",
        "f >> g",
    ] {
        let text = format!(
            "version: 2.0.0\nname: Qa\nnodes: [{{ type: \"{part}\", id: f }}]\nedges: []\n"
        );
        assert!(source(&flow(&text)).is_err(), "{part}");
    }
    let label = "version: 2.0.0\nname: Qa\nnodes: []\nedges: []\nends: [{ label: 'a\"); } }' }]\n";
    assert!(
        said(label).contains(r#"start >> end("a\"); } }");"#),
        "{}",
        said(label)
    );
}
