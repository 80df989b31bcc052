//! `cargo flow check`

use insta::assert_snapshot;

use crate::files::*;
use crate::program::{EXPENSE, Folder, QA};

fn folder() -> Folder {
    Folder::new()
        .with("app", elf(&records(&[QA, EXPENSE])))
        .with("flows/qa.json", QA)
        .with("flows/expense_approval.json", EXPENSE)
}

#[test]
fn a_folder_that_is_up_to_date() {
    assert_eq!(folder().run("check flows app"), "");
    let windows = folder().with("flows/qa.json", QA.replace('\n', "\r\n"));
    assert_eq!(windows.run("check flows app"), "");
    let others = folder().with("flows/README.md", "about them");
    assert_eq!(others.run("check flows app"), "");
}

/// These are read by programs that know their nodes.
#[test]
fn documents_that_leave_out_what_a_program_knows() {
    let folder = Folder::new()
        .with(
            "claim.yaml",
            include_str!("../../../examples/data/claim.yaml"),
        )
        .with(
            "answer.yaml",
            include_str!("../../../examples/data/answer.yaml"),
        );
    assert_snapshot!(folder.run("check claim.yaml answer.yaml"), @"
    [stderr]
    claim.yaml: it does not say what `limit` and 2 other nodes read and write, so values are checked only when a program loads it
    answer.yaml: it does not say what `ask` reads and writes, so values are checked only when a program loads it
    ");
    assert_eq!(folder.run("diff claim.yaml claim.yaml"), "no changes\n");
}

#[test]
fn a_folder_that_is_not() {
    let old = EXPENSE.replace("\"rejected\"", "\"refused\"");
    let folder = folder()
        .with("flows/expense_approval.json", &old)
        .with("flows/gone.json", QA);
    std::fs::remove_file(folder.path().join("flows/qa.json")).expect("it is there");
    let told = folder.run("check flows app");
    assert_snapshot!(told, @r#"
    flows/expense_approval.json is not up to date
    ExpenseApproval (expense_approval)
      breaking:
        end "rejected" was added: whoever matches on the ends has to expect it (callers)
        end "refused" was removed (callers)
        `review` no longer takes "refused" (executions)
      compatible:
        `review` can also take "rejected" (executions)
        edge `review` - "rejected" to end "rejected" was added (executions)
        edge `review` - "refused" to end "refused" was removed (executions)
    flows/gone.json belongs to no flow: remove it
    flows/qa.json is missing: the flow `Qa`
    [stderr]
    help: `cargo flow export app --out flows` updates them
    [exit code 1]
    "#);
    let folder = folder
        .with("one/expense_approval.json", old)
        .with("new.json", EXPENSE);
    let changes = folder.run("diff one/expense_approval.json new.json");
    assert!(changes.contains("breaking:"), "{changes}");
    let changes = changes.trim_end_matches("[exit code 1]");
    assert!(told.contains(changes), "{told}");
}

/// The lines are shown where `cargo flow diff` shows no changes, or refuses the document.
#[test]
fn a_file_whose_flow_is_the_same_or_is_none() {
    let unsound = EXPENSE.replacen("\"rejected\"", "\"refused\"", 1);
    let folder = folder()
        .with("flows/expense_approval.json", unsound)
        .with("flows/qa.json", QA.replacen("  ", "   ", 1));
    assert_snapshot!(folder.run("check flows app"), @r#"
    flows/expense_approval.json is not up to date
    @@ -62,7 +62,7 @@
               ]
             },
             {
    -          "name": "refused"
    +          "name": "rejected"
             }
           ]
         },
    flows/qa.json is not up to date
    @@ -1,5 +1,5 @@
     {
    -   "version": "2.0.0",
    +  "version": "2.0.0",
       "namespace": "qa",
       "name": "Qa",
       "inputs": {
    [stderr]
    help: `cargo flow export app --out flows` updates them
    [exit code 1]
    "#);
    let folder = folder.with("flows/qa.json", "{");
    let told = folder.run("check flows app");
    assert!(told.contains("qa.json is not up to date\n@@"), "{told}");
}

#[test]
fn a_folder_of_another_depth() {
    let folder = folder();
    folder.run("export app --depth 0 --out flows");
    assert!(
        folder
            .run("check flows app")
            .contains("expense_approval.json is not up to date")
    );
    assert_eq!(folder.run("check flows app --depth 0"), "");
    let seen = folder.run("check flows app --depth 3");
    assert!(
        seen.contains("`cargo flow export app --depth 3 --out flows` updates them"),
        "{seen}"
    );
}

#[test]
fn the_last_newline_counts() {
    let folder = folder().with("flows/qa.json", QA.trim_end());
    assert_snapshot!(folder.run("check flows app"), @r#"
    flows/qa.json is not up to date
    @@ -75,4 +75,4 @@
       ],
       "entryNodeId": "answer",
       "dependencies": {}
    -}
    \ no newline at the end
    +}
    [stderr]
    help: `cargo flow export app --out flows` updates them
    [exit code 1]
    "#);
}

#[test]
fn a_sound_flow() {
    let folder = folder();
    assert_eq!(
        folder.run("check flows/qa.json flows/expense_approval.json"),
        ""
    );
}

#[test]
fn a_flow_that_is_not() {
    let unsound = EXPENSE.replace("\"to\": \"pay\"", "\"to\": \"pai\"");
    let folder = folder()
        .with("unsound.json", &unsound)
        .with("list.json", format!("[{QA}, {unsound}]"))
        .with(
            "unread.json",
            EXPENSE.replacen(
                "\"writes\": [\n            \"amount\"\n          ]",
                "\"mayWrite\": [\"amount\"]",
                1,
            ),
        )
        .with(
            "shape.json",
            r#"{ "version": "2.0.0", "nodes": [{}], "edgse": [] }"#,
        );
    assert_snapshot!(folder.run("check unsound.json"), @"
    unsound.json:188:13: there is no node `pai` [F004]
      at /edges/0/to
      help: did you mean `pay`?
    [exit code 1]
    ");
    assert_snapshot!(folder.run("check flows/qa.json list.json"), @"
    list.json:266:13: there is no node `pai` [F004]
      at /1/edges/0/to
      help: did you mean `pay`?
    [exit code 1]
    ");
    assert_snapshot!(folder.run("check unread.json shape.json"), @r#"
    unread.json:186:13: `pay` reads `amount`, which is not written on every path to it [F007]
      at /edges/0/to
      this path does not write it: start >> review - "approved" >> pay
      `review` may leave `amount` unwritten
      help: write it before, remove it from `required` in the `inputs` of the node, or add it to those of the flow
    shape.json:1:38: there is no field `edgse` here [F023]
      at /edgse
      help: did you mean `edges`?
    shape.json:1:33: `type` is missing [F023]
      at /nodes/0
      help: name the function, type or flow that the node is: `"type": "review"`
    shape.json:1:33: `id` is missing [F023]
      at /nodes/0
      help: name the node: `"id": "review"`
    [exit code 1]
    "#);
}

#[test]
fn a_binary_is_not_checked_alone() {
    assert_snapshot!(folder().run("check app"), @"
    [stderr]
    error: `app` is not a flow document
           help: compare it with a folder of exported flows: `cargo flow check DIR app`
    [exit code 2]
    ");
    assert_snapshot!(folder().run("check flows/qa.json --release"), @"
    [stderr]
    error: `flows/qa.json` is not a folder, so that nothing is built
           help: leave the build options out, or name a folder
    [exit code 2]
    ");
    assert_snapshot!(folder().run("check no-such-folder"), @"
    [stderr]
    error: cannot read `no-such-folder`: No such file or directory (os error 2)
    [exit code 2]
    ");
}
