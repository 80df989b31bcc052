//! `cargo flow source`

use insta::assert_snapshot;

use crate::files::*;
use crate::program::{EXPENSE, Folder, QA};

const DRAFT: &str = "\
version: 2.0.0
name: Draft
inputs:
  type: object
  properties:
    topic: { rustType: String, description: About what. }
  required: [topic]
nodes:
  - { type: Model, id: ask, settings: { retry: { attempts: 3, wait: 1s } }, fallible: true, inputs: { type: object, properties: { topic: {} }, required: [topic] } }
  - { type: flow.wait, id: wait, params: { duration: 5s } }
  - { type: publish, id: publish }
edges:
  - { from: ask, to: wait, condition: default }
  - { from: wait, to: publish, condition: default }
ends:
  - { from: publish, condition: default, label: default }
  - { from: ask, condition: error, label: failed }
entryNodeId: ask
";

#[test]
fn a_flow_of_a_program() {
    let folder = Folder::new().with("app", elf(&records(&[QA, EXPENSE])));
    assert_snapshot!(folder.run("source app"), @r#"
    flow! {
        Payment(amount: u64) -> (receipt: Receipt) {
            start >> transfer >> end;
        }
    }

    flow! {
        /// Approves an expense claim, or sends it back.
        ExpenseApproval(claim: Claim, policy: Option<Policy>) -> (receipt: Option<Receipt>) {
            node review: review;
            node pay: Payment;

            start >> review;
            review - "approved" >> pay;
            review - "rejected" >> end("rejected");
            pay >> end;
        }
    }

    flow! {
        Qa(question: String) -> (answer: String) {
            start >> answer >> end;
        }
    }
    "#);
    assert!(
        folder
            .run("source app --flow Qa")
            .starts_with("flow! {\n    Qa(")
    );
    assert!(
        folder
            .run("source app --flow Qb")
            .contains("did you mean `Qa`?")
    );
}

#[test]
fn a_draft() {
    let folder = Folder::new().with("draft.yaml", DRAFT);
    assert_snapshot!(folder.run("source draft.yaml"), @r#"
    flow! {
        Draft(
            /// About what.
            topic: String,
        ) {
            node ask: Model with retry(attempts = 3, wait = "1s");

            start >> ask >> wait(5s) >> publish >> end;
            ask - "error" >> end("failed");
        }
    }
    "#);
}

#[test]
fn what_cannot_be_said() {
    let draft = DRAFT
        .replace("id: publish }", "id: publish, params: { to: all } }")
        .replace("name: Draft", "name: My draft")
        .replace("rustType: String, ", "");
    let folder = Folder::new()
        .with("draft.yaml", draft)
        .with("unsound.yaml", DRAFT.replace("to: publish", "to: ask"))
        .with("broken.yaml", "nodes: 1\n");
    assert_snapshot!(folder.run("source draft.yaml"), @"
    [stderr]
    error: this cannot be said in `flow!`
           draft.yaml:2:7: the flow's name `My draft` is not a name in Rust
             at /name
           draft.yaml:6:5: the type of `topic` is not known
             at /inputs/properties/topic
           draft.yaml:11:35: the settings of `publish` are Rust values in a program
             at /nodes/2/params
    [exit code 2]
    ");
    assert_snapshot!(folder.run("source unsound.yaml"), @"
    unsound.yaml:11:5: no edge leads to `publish` [F005]
      at /nodes/2
      help: lead an edge to it from the step before it, or remove it
    [exit code 1]
    ");
    assert!(
        folder
            .run("source broken.yaml")
            .contains("`broken.yaml` is not a flow")
    );
}
