//! `cargo flow export`

use insta::assert_snapshot;

use crate::files::*;
use crate::program::{EXPENSE, Folder, QA};

#[test]
fn one_flow_is_a_document() {
    let folder = Folder::new().with("app", elf(&records(&[QA, EXPENSE])));
    assert_eq!(folder.run("export app --flow Qa"), QA);
    assert_eq!(folder.run("export app --flow expense_approval"), EXPENSE);
    assert_eq!(folder.run("export app --flow qa --flow Qa"), QA);
}

#[test]
fn several_flows_are_a_list_ordered_by_namespace() {
    let folder = Folder::new().with("app", elf(&records(&[QA, EXPENSE])));
    let list: serde_json::Value = serde_json::from_str(&folder.run("export app")).expect("JSON");
    let flows: Vec<String> = list
        .as_array()
        .expect("a list")
        .iter()
        .map(|flow| flow.to_string())
        .collect();
    assert_eq!(flows, [compact(EXPENSE), compact(QA)]);
}

#[test]
fn the_depth_cuts_nested_flows() {
    let folder = Folder::new().with("app", elf(&records(&[EXPENSE])));
    let cut = folder.run("export app --depth 0");
    assert!(cut.contains("\"internalFlowOmitted\": true"), "{cut}");
    assert!(!cut.contains("\"internalFlow\""), "{cut}");
    assert_eq!(folder.run("export app --depth 1"), EXPENSE);
}

#[test]
fn a_folder_has_a_file_for_each_flow() {
    let folder = Folder::new().with("app", elf(&records(&[QA, EXPENSE])));
    assert_snapshot!(folder.run("export app --out target/flows"), @"
    [stderr]
    wrote target/flows/expense_approval.json
    wrote target/flows/qa.json
    ");
    assert_eq!(
        folder.names("target/flows"),
        ["expense_approval.json", "qa.json"]
    );
    assert_eq!(folder.read("target/flows/qa.json"), QA);
    assert_eq!(folder.read("target/flows/expense_approval.json"), EXPENSE);
    assert_eq!(folder.run("check target/flows app"), "");
}

#[test]
fn a_path_with_an_ending_is_a_file_for_one_flow() {
    let folder = Folder::new().with("app", elf(&records(&[QA, EXPENSE])));
    let seen = folder.run("export app --flow Qa --out one.json");
    assert_eq!(seen, "[stderr]\nwrote one.json\n");
    assert_eq!(folder.read("one.json"), QA);
    let seen = folder.run("export app --flow Qa --out flows.d/");
    assert_eq!(seen, "[stderr]\nwrote flows.d/qa.json\n");
}

#[test]
fn flows_of_one_namespace_have_files_of_their_own() {
    let other = QA.replace("\"Qa\"", "\"Another\"");
    let folder = Folder::new().with("app", elf(&records(&[QA, &other])));
    assert_snapshot!(folder.run("export app --out flows"), @"
    [stderr]
    warning: several flows have the namespace `qa`; the files of all but the first get a number
    wrote flows/qa.json
    wrote flows/qa-2.json
    ");
    assert_eq!(folder.read("flows/qa.json"), other);
    assert_eq!(folder.read("flows/qa-2.json"), QA);
}

#[test]
fn no_namespace_leads_out_of_the_folder() {
    let evil = QA.replace("\"namespace\": \"qa\"", "\"namespace\": \"../../evil\"");
    let folder = Folder::new()
        .with("inner/app.json", evil)
        .with("inner/flows/old", "");
    folder.run("export inner/app.json --out inner/flows");
    assert_eq!(folder.names("."), ["inner"]);
    assert_eq!(folder.names("inner/flows"), ["_.._.._evil.json", "old"]);
}

#[test]
fn a_file_that_cannot_be_written_stays_as_it_was() {
    // A folder is in the way, so that the new file cannot take its place.
    let folder = Folder::new()
        .with("qa.json", QA)
        .with("flows/qa.json/keep", "");
    let seen = folder.run("export qa.json --out flows");
    assert!(
        seen.starts_with("[stderr]\nerror: cannot write `flows/qa.json`: "),
        "{seen}"
    );
    assert!(seen.ends_with("[exit code 2]"), "{seen}");
    assert_eq!(folder.names("flows"), ["qa.json"]);
    assert_eq!(folder.names("flows/qa.json"), ["keep"]);
}

#[test]
fn a_file_is_no_folder() {
    let folder = Folder::new().with("qa.json", QA).with("flows", "");
    assert_snapshot!(folder.run("export qa.json --out flows"), @"
    [stderr]
    error: `flows` is not a folder
    [exit code 2]
    ");
}

#[test]
fn an_unknown_flow() {
    let folder = Folder::new().with("app", elf(&records(&[QA, EXPENSE])));
    assert_snapshot!(folder.run("export app --flow ExpenseAproval"), @"
    [stderr]
    error: there is no flow `ExpenseAproval`
           help: did you mean `ExpenseApproval`?
    [exit code 2]
    ");
    assert_snapshot!(folder.run("export app --flow Zzz"), @"
    [stderr]
    error: there is no flow `Zzz`
           help: there is `ExpenseApproval`, `Qa`
    [exit code 2]
    ");
}
