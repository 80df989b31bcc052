//! `cargo flow render`

use insta::assert_snapshot;

use crate::files::*;
use crate::program::{EXPENSE, Folder, QA};

fn folder() -> Folder {
    Folder::new()
        .with("app", elf(&records(&[QA, EXPENSE])))
        .with("qa.json", QA)
}

#[test]
fn a_tree_is_what_is_drawn_unless_asked_otherwise() {
    assert_snapshot!(folder().run("render app"), @"
    ExpenseApproval (expense_approval)
    📦 review (review)
    📦 Payment (pay)
      📦 transfer (transfer)

    Qa (qa)
    📦 answer (answer)
    ");
}

#[test]
fn every_format_is_drawn() {
    let begins = [
        ("tree", "📦"),
        ("mermaid", "---\ntitle: \"Qa\""),
        ("dot", "digraph"),
        ("svg", "<svg"),
        ("html", "<!DOCTYPE html>"),
    ];
    for (format, begin) in begins {
        let drawn = folder().run(&format!("render qa.json --format {format}"));
        let start = drawn.get(..begin.len()).unwrap_or(&drawn);
        assert!(start.eq_ignore_ascii_case(begin), "{format}: {drawn}");
        assert!(
            drawn.contains("answer") && drawn.ends_with('\n'),
            "{format}: {drawn}"
        );
        let again = folder().run(&format!("render app --flow qa --format {format}"));
        assert_eq!(again, drawn, "{format}");
    }
}

#[test]
fn some_formats_show_one_flow() {
    let folder = folder();
    assert_snapshot!(folder.run("render app --format svg"), @"
    [stderr]
    error: an SVG picture shows one flow, and there are 2: `ExpenseApproval`, `Qa`
           help: choose one with `--flow NAME`, or write them into a folder with `--out DIR`
    [exit code 2]
    ");
    assert_eq!(
        folder
            .run("render app --format dot")
            .matches("digraph")
            .count(),
        2
    );
}

#[test]
fn one_flow_is_written_to_a_file_and_several_into_a_folder() {
    let folder = folder().with("here/x", "");
    assert_snapshot!(folder.run("render app --flow Qa --format svg --out qa.svg"), @"
    [stderr]
    wrote qa.svg
    ");
    assert_eq!(
        folder.read("qa.svg"),
        folder.run("render qa.json --format svg")
    );
    assert_snapshot!(folder.run("render qa.json --format html --out pages/"), @"
    [stderr]
    wrote pages/qa.html
    ");
    assert_snapshot!(folder.run("render qa.json --format dot --out here"), @"
    [stderr]
    wrote here/qa.dot
    ");
    assert_snapshot!(folder.run("render app --format mermaid --out diagrams"), @"
    [stderr]
    wrote diagrams/expense_approval.mmd
    wrote diagrams/qa.mmd
    ");
    assert_eq!(folder.names("diagrams"), ["expense_approval.mmd", "qa.mmd"]);
    assert_snapshot!(folder.run("render app --out qa.json"), @"
    [stderr]
    error: `qa.json` is not a folder
    [exit code 2]
    ");
}
