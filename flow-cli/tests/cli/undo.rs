//! Flows whose nodes can be undone, in every command that shows a flow.

use insta::assert_snapshot;

use crate::program::Folder;

const ORDER: &str = "\
version: 2.0.0
namespace: order
name: Order
nodes:
  - { type: reserve, id: reserve, settings: { undo: release } }
  - { type: charge, id: charge, settings: { undo: refund, retry: { attempts: 5 } }, fallible: true }
  - { type: refund, id: refund, settings: { retry: { attempts: 3 } }, fallible: true }
  - { type: ship, id: ship, fallible: true }
  - { type: flow.commit, id: commit }
  - { type: mail, id: mail }
  - { type: flow.undo, id: undo }
  - { type: release, id: release }
edges:
  - { from: reserve, to: charge, condition: default }
  - { from: charge, to: ship, condition: default }
  - { from: ship, to: commit, condition: default }
  - { from: commit, to: mail, condition: default }
  - { from: ship, to: undo, condition: error }
ends:
  - { from: mail, condition: default, label: default }
  - { from: undo, condition: default, label: refused }
entryNodeId: reserve
";

#[test]
fn a_flow_is_written_and_is_formatted_then() {
    let folder = Folder::new().with("order.yaml", ORDER);
    let text = folder.run("source order.yaml");
    assert_snapshot!(text, @r#"
    flow! {
        Order() {
            node reserve: reserve with undo = release;
            node charge: charge with undo = refund, retry(attempts = 5);
            node refund: refund with retry(attempts = 3);

            start >> reserve >> charge >> ship >> commit >> mail >> end;
            ship - "error" >> undo >> end("refused");
        }
    }
    "#);
    let folder = folder.with("order.rs", &text);
    assert_eq!(folder.run("fmt --check order.rs"), "");
    let cramped = text.replace("undo = refund, ", "undo=refund,");
    assert_ne!(cramped, text);
    let folder = folder.with("order.rs", cramped);
    assert_snapshot!(folder.run("fmt order.rs"), @"
    [stderr]
    formatted order.rs
    ");
    assert_eq!(folder.read("order.rs"), text);
}

#[test]
fn a_flow_is_shown() {
    let folder = Folder::new().with("order.yaml", ORDER);
    assert_snapshot!(folder.run("check order.yaml"), @"
    [stderr]
    order.yaml: it does not say what `reserve` and 5 other nodes read and write, so values are checked only when a program loads it
    ");
    assert_snapshot!(folder.run("render order.yaml"), @r#"
    Order (order)
    start
    ↓ reserve · undone by release
    ┆ release · takes back reserve
    ↓ charge · undone by refund, 5 attempts
    ┆ refund · takes back charge · 3 attempts
    ↓ ship
    ├ error → undo · undoes what was done
    │ ↓ end "refused"
    ↓ commit · keeps what was done
    ↓ mail
    ↓ end
    "#);
    let json = folder.run("export order.yaml");
    assert!(json.contains(r#""undo": "refund""#), "{json}");
    let folder = folder.with("order.json", json);
    assert_eq!(
        folder.run("diff order.yaml order.json"),
        folder.run("diff order.json order.yaml")
    );
}

#[test]
fn mistakes_and_changes_are_at_their_places() {
    let folder = Folder::new()
        .with("order.yaml", ORDER)
        .with(
            "step.yaml",
            ORDER.replace(
                "from: undo, condition: default, label",
                "from: refund, condition: default, label",
            ),
        )
        .with("unknown.yaml", ORDER.replace("undo: refund", "undo: refnd"))
        .with(
            "other.yaml",
            ORDER
                .replace("undo: release }", "undo: refund }")
                .replace("  - { type: release, id: release }\n", ""),
        );
    assert_snapshot!(folder.run("check step.yaml"), @"
    step.yaml:7:5: no edge leads to `refund` [F005]
      at /nodes/2
      help: add an edge that leads to it, or remove it
    step.yaml:11:5: `undo` leads nowhere [F002]
      at /nodes/6
      help: add it as `condition` to `edges`, or to `ends` if the flow ends there
    step.yaml:21:13: `refund` takes back `charge`, so it cannot be a step as well [F025]
      at /ends/1/from
      it takes back `charge` here (line 6, column 51)
      help: add a second node of its type for this place
    [stderr]
    step.yaml: it does not say what `reserve` and 5 other nodes read and write, so values are checked only when a program loads it
    [exit code 1]
    ");
    assert_snapshot!(folder.run("check unknown.yaml"), @"
    unknown.yaml:6:51: there is no node `refnd` [F004]
      at /nodes/1/settings/undo
      help: did you mean `refund`?
    [exit code 1]
    ");
    assert_snapshot!(folder.run("diff order.yaml other.yaml"), @"
    Order (order)
      breaking:
        `reserve` is taken back by `refund`, and was by `release`: earlier visits kept what that one reads (executions that have passed `reserve`)
        node `release` was removed (executions)
    [exit code 1]
    ");
}
