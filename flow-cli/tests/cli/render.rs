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
fn the_screen_shows_the_way_through_the_flows() {
    assert_snapshot!(folder().run("render app"), @r#"
    ExpenseApproval (expense_approval)
    start
    ↓ review                     {claim, policy}
    ├ rejected → end "rejected"
    ↓ approved → pay · Payment   {amount}
    ↓ end                        {receipt}

    pay: Payment
    start
    ↓ transfer  {amount}
    ↓ end       {receipt}

    Qa (qa)
    start
    ↓ answer  {question}
    ↓ end     {answer}
    "#);
    assert_snapshot!(folder().run("render app --format tree"), @"
    ExpenseApproval (expense_approval)
    📦 review (review)
    📦 Payment (pay)
      📦 transfer (transfer)

    Qa (qa)
    📦 answer (answer)
    ");
}

#[test]
fn a_flow_within_another_one_is_shown_there() {
    let expense: serde_json::Value = serde_json::from_str(EXPENSE).expect("JSON");
    let nodes = expense["nodes"].as_array().expect("nodes");
    let inner = nodes.iter().find_map(|node| node.get("internalFlow"));
    let mut inner = inner.expect("a flow").clone();
    inner["namespace"] = "payment".into();
    let inner = inner.to_string();
    let folder = Folder::new().with("app", elf(&records(&[EXPENSE, &inner])));
    let seen = folder.run("render app");
    assert!(seen.starts_with("ExpenseApproval ("), "{seen}");
    assert_eq!(
        seen,
        Folder::new()
            .with("app", elf(&records(&[EXPENSE])))
            .run("render app")
    );
    let alone = folder.run("render app --flow payment");
    assert!(alone.starts_with("Payment (payment)\n"), "{alone}");
}

#[test]
fn every_format_is_drawn() {
    let begins = [
        ("text", "Qa (qa)\nstart\n↓ answer"),
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
fn pictures_go_to_the_right_if_they_are_told_to() {
    let folder = folder();
    for format in ["mermaid", "dot", "svg", "html"] {
        let drawn = |words: &str| folder.run(&format!("render qa.json --format {format}{words}"));
        let down = drawn("");
        assert_eq!(drawn(" --direction TB"), down, "{format}");
        let right = drawn(" --direction LR");
        assert_ne!(right, down, "{format}");
        assert_eq!(drawn(" --direction lr"), right, "{format}");
    }
    let mermaid = folder.run("render qa.json --format mermaid --direction LR");
    assert!(mermaid.contains("flowchart LR"), "{mermaid}");
    let wrote = folder.run("render app --direction LR --out pages");
    assert!(wrote.ends_with("wrote pages/qa.html\n"), "{wrote}");
    assert_eq!(
        folder.read("pages/qa.html"),
        folder.run("render qa.json --format html --direction LR")
    );
    assert_snapshot!(folder.run("render qa.json --direction LR"), @"
    [stderr]
    error: a text has no direction
           help: add `--format svg`, `html`, `mermaid` or `dot`, or leave `--direction` out
    [exit code 2]
    ");
    let unknown = folder.run("render qa.json --format svg --direction up");
    assert!(unknown.contains("possible values: TB, LR"), "{unknown}");
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
fn a_file_has_the_format_of_its_ending() {
    let folder = folder();
    let endings = [
        ("qa.svg", "svg"),
        ("qa.html", "html"),
        ("qa.mmd", "mermaid"),
        ("qa.dot", "dot"),
        ("qa.txt", "text"),
    ];
    for (file, format) in endings {
        let seen = folder.run(&format!("render qa.json --out {file}"));
        assert_eq!(seen, format!("[stderr]\nwrote {file}\n"));
        let printed = folder.run(&format!("render qa.json --format {format}"));
        assert_eq!(folder.read(file), printed, "{file}");
    }
    folder.run("render qa.json --format dot --out qa.gv");
    assert_eq!(folder.read("qa.gv"), folder.read("qa.dot"));
    assert_snapshot!(folder.run("render qa.json --out qa.png"), @"
    [stderr]
    error: `qa.png` does not say in which format to draw
           help: end it in `.svg`, `.html`, `.mmd`, `.dot` or `.txt`, add `--format`, or name a folder: `qa.png/`
    [exit code 2]
    ");
}

#[test]
fn a_folder_gets_a_file_for_each_flow_however_many_there_are() {
    let folder = folder().with("here.d/x", "");
    for out in ["pages", "other.d/", "here.d"] {
        let files = |words: &str| {
            let seen = folder.run(&format!("render {words} --out {out}"));
            let lines = seen.lines().skip(1).map(str::to_owned);
            lines.collect::<Vec<String>>()
        };
        let wrote = |name: &str| format!("wrote {}/{name}", out.trim_end_matches('/'));
        assert_eq!(files("qa.json"), [wrote("qa.html")]);
        assert_eq!(
            files("app --format svg"),
            [wrote("expense_approval.svg"), wrote("qa.svg")]
        );
    }
    assert_eq!(
        folder.read("pages/qa.html"),
        folder.run("render qa.json --format html")
    );
    let folder = folder.with("file", "");
    assert_snapshot!(folder.run("render app --out file"), @"
    [stderr]
    error: `file` is not a folder
    [exit code 2]
    ");
}

#[test]
fn several_flows_do_not_fit_into_one_file() {
    let folder = folder();
    assert_snapshot!(folder.run("render app --out pictures/all.svg"), @"
    [stderr]
    error: `pictures/all.svg` is one file, and there are 2 flows: `ExpenseApproval`, `Qa`
           help: choose one with `--flow NAME`, or name a folder: `--out pictures/all/`
    [exit code 2]
    ");
    assert_snapshot!(folder.run("export app --out all.json"), @"
    [stderr]
    error: `all.json` is one file, and there are 2 flows: `ExpenseApproval`, `Qa`
           help: choose one with `--flow NAME`, or name a folder: `--out all/`
    [exit code 2]
    ");
    assert_eq!(folder.names("."), ["app", "qa.json"]);
    assert_snapshot!(folder.run("render app --flow Qa --out one.svg"), @"
    [stderr]
    wrote one.svg
    ");
}
