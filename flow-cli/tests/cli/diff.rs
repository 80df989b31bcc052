//! `cargo flow diff`

use insta::assert_snapshot;

use crate::files::*;
use crate::program::{EXPENSE, Folder, QA};

/// Another version of the flow: an action is gone, an input has another name, an output another type, and there is an
/// input that may be left out.
fn changed() -> String {
    let mut flow: serde_json::Value = serde_json::from_str(EXPENSE).expect("JSON");
    let text = flow
        .to_string()
        .replace("\"claim\"", "\"request\"")
        .replace("\"Receipt\"", "\"Voucher\"");
    flow = serde_json::from_str(&text).expect("JSON");
    flow["nodes"][0]["actions"]
        .as_array_mut()
        .expect("a list")
        .remove(1);
    flow["ends"].as_array_mut().expect("a list").remove(0);
    flow["inputs"]["properties"]["note"] =
        serde_json::json!({ "type": "string", "rustType": "String" });
    flow["nodes"][0]["inputs"]["properties"]["note"] = flow["inputs"]["properties"]["note"].clone();
    flow.to_string()
}

#[test]
fn breaking_changes_have_the_exit_code_1() {
    let folder = Folder::new()
        .with("old", elf(&records(&[EXPENSE])))
        .with("new", elf(&records(&[&changed()])));
    assert_snapshot!(folder.run("diff old new"), @r#"
    ExpenseApproval (expense_approval)
      breaking:
        input `claim` was renamed to `request` (callers, executions)
        output `receipt` was `Receipt`, and is `Voucher` (callers)
        end "rejected" was removed (callers)
        `review` no longer takes "rejected" (executions)
        `pay` writes: `receipt` was `Receipt`, and is `Voucher` (executions)
        `pay.transfer` writes: `receipt` was `Receipt`, and is `Voucher` (executions)
      compatible:
        input `note` was added, and may be left out (callers, executions)
        `review` reads `request` instead of `claim` (executions)
        `review` also reads `note` (executions)
        edge `review` - "rejected" to end "rejected" was removed (executions)
    [exit code 1]
    "#);
}

#[test]
fn compatible_changes_do_not() {
    let mut flow: serde_json::Value = serde_json::from_str(EXPENSE).expect("JSON");
    flow["inputs"]["properties"]["note"] =
        serde_json::json!({ "type": "string", "rustType": "String" });
    flow["nodes"][0]["inputs"]["properties"]["note"] = flow["inputs"]["properties"]["note"].clone();
    let folder = Folder::new()
        .with("old.json", EXPENSE)
        .with("new.json", flow.to_string());
    assert_snapshot!(folder.run("diff old.json new.json"), @"
    ExpenseApproval (expense_approval)
      compatible:
        input `note` was added, and may be left out (callers, executions)
        `review` also reads `note` (executions)
    ");
    assert_snapshot!(folder.run("diff old.json new.json --json"), @r#"
    {
      "breaking": false,
      "flows": [
        {
          "name": "ExpenseApproval",
          "namespace": "expense_approval",
          "kind": "changed",
          "breaking": false,
          "changes": [
            {
              "path": "",
              "pointer": "/inputs/properties/note",
              "part": "input",
              "kind": "added",
              "message": "input `note` was added, and may be left out",
              "callers": "compatible",
              "executions": "compatible"
            },
            {
              "path": "review",
              "pointer": "/nodes/0/inputs/properties/note",
              "part": "read",
              "kind": "added",
              "message": "`review` also reads `note`",
              "callers": "none",
              "executions": "compatible"
            }
          ]
        }
      ]
    }
    "#);
}

#[test]
fn nothing_changed() {
    let folder = Folder::new()
        .with("flows/qa.json", QA)
        .with("flows/expense_approval.json", EXPENSE)
        .with("app", elf(&records(&[QA, EXPENSE])));
    assert_eq!(folder.run("diff flows app"), "no changes\n");
    assert_snapshot!(folder.run("diff flows app --json"), @r#"
    {
      "breaking": false,
      "flows": []
    }
    "#);
}

#[test]
fn flows_come_and_go() {
    let folder = Folder::new()
        .with("both", elf(&records(&[QA, EXPENSE])))
        .with("flows/qa.json", QA);
    assert_snapshot!(folder.run("diff flows both"), @"
    ExpenseApproval (expense_approval)
      compatible:
        the flow was added
    ");
    assert_snapshot!(folder.run("diff both flows"), @"
    ExpenseApproval (expense_approval)
      breaking:
        the flow was removed
    [exit code 1]
    ");
}

#[test]
fn flows_are_the_same_by_namespace_then_by_name() {
    let renamed = QA.replace("\"Qa\"", "\"Questions\"");
    let moved = EXPENSE.replace("\"expense_approval\"", "\"office.expense\"");
    let folder = Folder::new()
        .with("old", elf(&records(&[QA, EXPENSE])))
        .with("new", elf(&records(&[&renamed, &moved])));
    let seen = folder.run("diff old new");
    assert!(!seen.contains("the flow was removed"), "{seen}");
    assert!(!seen.contains("the flow was added"), "{seen}");
}

#[test]
fn one_flow_on_each_side_is_compared_whatever_its_name() {
    let draft = QA
        .replace("\"Qa\"", "\"Draft\"")
        .replace("\"qa\"", "\"draft\"");
    let folder = Folder::new().with("qa.json", QA).with("draft.json", draft);
    let seen = folder.run("diff qa.json draft.json");
    assert!(!seen.contains("the flow was removed"), "{seen}");
    assert!(!seen.contains("the flow was added"), "{seen}");
}

#[test]
fn flows_that_do_not_run_are_not_compared() {
    let nowhere = QA.replace("\"condition\": \"default\"", "\"condition\": \"answered\"");
    assert_ne!(nowhere, QA);
    let folder = Folder::new()
        .with("qa.json", QA)
        .with("draft.json", &nowhere)
        .with("flows/draft.json", &nowhere);
    assert_snapshot!(folder.run("diff qa.json draft.json"), @r#"
    [stderr]
    error: `draft.json` is not sound
           72:20: `answer` has no action "answered" [F001]
             at /ends/0/condition
             help: write an action that the node has as `condition`, or add this one to its `actions`
           help: only sound flows are compared, since others do not run
    [exit code 2]
    "#);
    let in_folder = folder.run("diff flows qa.json --json");
    assert!(
        in_folder.contains("error: `flows/draft.json` is not sound"),
        "{in_folder}"
    );
}

#[test]
fn an_empty_folder_has_no_flows() {
    let folder = Folder::new()
        .with("flows/README.md", "none yet")
        .with("qa.json", QA);
    assert_snapshot!(folder.run("diff flows qa.json"), @"
    [stderr]
    error: no flows in `flows`
    [exit code 2]
    ");
}
