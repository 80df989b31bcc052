//! `cargo flow list`

use insta::assert_snapshot;

use crate::files::*;
use crate::program::{EXPENSE, Folder, QA};

#[test]
fn a_table() {
    let folder = Folder::new().with("app", elf(&records(&[QA, EXPENSE])));
    assert_snapshot!(folder.run("list app"), @"
    FLOW             NAMESPACE         NODES  INPUTS            OUTPUTS            ENDS
    ExpenseApproval  expense_approval  2      claim: Claim      receipt?: Receipt  rejected
                                              policy?: Policy                      default
    Qa               qa                1      question: String  answer: String     default
    ");
}

#[test]
fn json() {
    let folder = Folder::new().with("expense.json", EXPENSE);
    assert_snapshot!(folder.run("list expense.json --json"), @r#"
    [
      {
        "name": "ExpenseApproval",
        "namespace": "expense_approval",
        "description": "Approves an expense claim, or sends it back.",
        "nodes": [
          "review",
          "pay"
        ],
        "inputs": [
          {
            "name": "claim",
            "rustType": "Claim",
            "required": true
          },
          {
            "name": "policy",
            "rustType": "Policy",
            "required": false
          }
        ],
        "outputs": [
          {
            "name": "receipt",
            "rustType": "Receipt",
            "required": false
          }
        ],
        "ends": [
          "rejected",
          "default"
        ]
      }
    ]
    "#);
}

#[test]
fn the_order_does_not_depend_on_the_linker() {
    let folder = Folder::new()
        .with("one", elf(&records(&[QA, EXPENSE])))
        .with("other", elf(&records(&[EXPENSE, QA])));
    assert_eq!(folder.run("list one"), folder.run("list other"));
}

#[test]
fn what_it_prints_as_a_list_it_reads() {
    let folder = Folder::new().with("app", elf(&records(&[QA, EXPENSE])));
    let list = folder.run("export app");
    let folder = folder.with("flows.json", list);
    assert_eq!(folder.run("list flows.json"), folder.run("list app"));
}

#[test]
fn json_is_known_by_its_name_or_its_beginning() {
    let marked = format!("\u{feff}\n{QA}");
    let folder = Folder::new().with("qa.JSON", QA).with("qa", marked);
    assert_eq!(folder.run("list qa"), folder.run("list qa.JSON"));
    assert!(folder.run("list qa").contains("question: String"));
    assert_eq!(folder.run("check qa qa.JSON"), "");
}
