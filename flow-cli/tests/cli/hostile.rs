//! Text of others, which could steer the terminal, forge rows or look like another text, in all
//! that the program writes.

use std::process::Stdio;

use flow_spec::is_deceptive;
use serde_json::{Value, json};

use crate::files::{elf, records};
use crate::program::Folder;

/// Erases its line, forges a row, turns the order of letters around, and cannot be seen.
const HOSTILE: &str = "x\r\n\u{1b}[2KForged  forged  9\t\u{9b}1A\u{7}\u{7f}\u{202e}\u{2066}\u{200b}\u{2028}\u{e0041}\u{feff}y";

/// What is as little an id as the other.
const HARMLESS: &str = "x y";

/// A flow in which this stands wherever an author can write something.
fn flow(text: &str) -> String {
    let values = json!({
        "type": "object",
        "properties": { text: { "type": "string", "rustType": text, "description": text } },
        "required": [text],
    });
    let flow = json!({
        "version": "2.0.0",
        "namespace": text,
        "name": text,
        "description": text,
        "inputs": values,
        "outputs": values,
        "nodes": [
            {
                // Not the name of the flow, which would contain itself.
                "type": format!("{text}i"),
                "id": "inner",
                "description": text,
                "params": { text: text },
                "paramsOmitted": [text],
                "inputs": values,
                "outputs": values,
                "actions": [{ "name": text, "writes": [text] }, { "name": "default", "writes": [text] }],
                "dependencies": [text],
                "internalFlow": {
                    "version": "2.0.0",
                    "namespace": format!("{text}.inner"),
                    "name": text,
                    "inputs": values,
                    "outputs": values,
                    "nodes": [{
                        "type": "flow.human",
                        "id": "ask",
                        "params": { "prompt": text, "expects": text },
                        "inputs": values,
                        "outputs": values,
                        "actions": [{ "name": text, "writes": [text] }, { "name": "default", "writes": [text] }],
                    }],
                    "edges": [],
                    "ends": [
                        { "from": "ask", "condition": text, "label": text },
                        { "from": "ask", "condition": "default", "label": "default" },
                    ],
                    "entryNodeId": "ask",
                },
            },
            {
                "type": "flow.branch",
                "id": "size",
                "params": { "cases": [{ "when": text, "action": text }], "otherwise": "default" },
                "inputs": values,
                "actions": [{ "name": text }, { "name": "default" }],
            },
        ],
        "edges": [
            { "from": "inner", "to": "size", "condition": text },
            { "from": "inner", "to": "size", "condition": "default" },
        ],
        "ends": [
            { "from": "size", "condition": text, "label": text },
            { "from": "size", "condition": "default", "label": "default" },
        ],
        "entryNodeId": "inner",
        "dependencies": { text: text },
    });
    format!("{flow:#}\n")
}

/// The same flow with mistakes, of which the messages quote it.
fn broken(text: &str) -> String {
    let mut flow: Value = serde_json::from_str(&flow(text)).expect("JSON");
    flow["nodes"][0]["mappings"] = json!({ "inputs": { format!("{text}z"): text } });
    flow["edges"][0]["to"] = format!("{text}z").into();
    flow["nodes"][1]["id"] = text.into();
    flow[text] = text.into();
    format!("{flow:#}\n")
}

/// The same flow, which is not sound: reads that nothing writes, actions that no edge is for.
fn unsound(text: &str) -> String {
    let mut flow: Value = serde_json::from_str(&flow(text)).expect("JSON");
    flow["nodes"][1]["inputs"]["properties"][format!("{text}z")] = json!({ "rustType": text });
    flow["nodes"][1]["inputs"]["required"] = json!([format!("{text}z")]);
    flow["nodes"][0]["actions"][0]["name"] = format!("{text}z").into();
    flow["nodes"][0]["internalFlow"]["outputs"]["properties"][text]["rustType"] = "u8".into();
    format!("{flow:#}\n")
}

/// The same flow after a change of whatever has this text. It is still sound.
fn changed(text: &str) -> String {
    let other = format!("{text}z");
    let rust_type = |text: &str| format!("\"rustType\": {}", json!(text));
    let flow = flow(text).replace(&rust_type(text), &rust_type(&other));
    let mut flow: Value = serde_json::from_str(&flow).expect("JSON");
    flow["name"] = other.as_str().into();
    flow["nodes"][0]["type"] = format!("{other}i").into();
    flow["nodes"][0]["params"][text] = other.as_str().into();
    flow["nodes"][0]["internalFlow"]["nodes"][0]["params"]["prompt"] = other.as_str().into();
    flow["ends"][0]["label"] = other.into();
    format!("{flow:#}\n")
}

/// A folder with these flows, as files and in a program.
fn folder(text: &str) -> Folder {
    let other = flow(text).replace("inner", "other");
    Folder::new()
        .with("flow.json", flow(text))
        .with("changed.json", changed(text))
        .with("broken.json", broken(text))
        .with("unsound.json", unsound(text))
        .with("app", elf(&records(&[&flow(text), &other])))
        .with("broken", elf(&records(&[&broken(text)])))
        .with("flows/old.json", changed(text))
        .with("two/flow.json", flow(text))
        .with("two/other.json", other)
}

/// What the program writes, without colours.
fn said(folder: &Folder, words: &[&str]) -> String {
    let mut command = folder.command("");
    let output = command.args(words).stdin(Stdio::null()).output();
    let output = output.expect("it runs");
    let said = [output.stdout, output.stderr].concat();
    String::from_utf8(said).expect("text")
}

fn is_markup(words: &[&str]) -> bool {
    words.iter().any(|word| ["svg", "html"].contains(word))
}

/// A description in markup may have lines and tabs.
fn assert_harmless(said: &str, words: &[&str]) {
    let may_be = |letter: &char| *letter == '\n' || *letter == '\t' && is_markup(words);
    let deceptive = said.chars().filter(|letter| is_deceptive(*letter));
    let deceptive: Vec<char> = deceptive.filter(|letter| !may_be(letter)).collect();
    assert!(deceptive.is_empty(), "{words:?}: {deceptive:?} in\n{said}");
}

const COMMANDS: [&[&str]; 22] = [
    &["list", "flow.json"],
    &["list", "app"],
    &["list", "flow.json", "--json"],
    &["list", "broken.json"],
    &["list", "broken"],
    &["export", "app"],
    &["export", "app", "--out", "exported"],
    &["export", "flow.json", "--flow", "none"],
    &["render", "app"],
    &["render", "app", "--out", "pictures"],
    &["render", "app", "--format", "svg"],
    &["render", "flow.json", "--format", "tree"],
    &["render", "flow.json", "--format", "mermaid"],
    &["render", "flow.json", "--format", "dot"],
    &["render", "flow.json", "--format", "svg"],
    &["render", "flow.json", "--format", "html"],
    &["check", "flow.json", "broken.json", "unsound.json"],
    &["check", "flows", "flow.json"],
    &["diff", "flow.json", "changed.json"],
    &["diff", "flow.json", "changed.json", "--json"],
    &["diff", "flows", "two"],
    &["diff", "two", "flows"],
];

#[test]
fn no_text_of_others_does_anything_but_stand_there() {
    let (hostile, plain) = (folder(HOSTILE), folder(HARMLESS));
    for words in COMMANDS {
        let (said, expected) = (said(&hostile, words), said(&plain, words));
        assert_harmless(&said, words);
        assert!(
            words[0] != "diff" || !said.contains("error"),
            "{words:?}: {said}"
        );
        let (lines, expected_lines) = (said.lines().count(), expected.lines().count());
        assert!(
            lines == expected_lines || is_markup(words),
            "{words:?} has as many lines as with harmless text:\n{said}\n{expected}"
        );
    }
}

/// JSON means the same with escapes, and without them.
#[test]
fn json_keeps_every_character() {
    let folder = folder(HOSTILE);
    let json = |words: &[&str]| -> Value {
        let said = said(&folder, words);
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{words:?}: {error}\n{said}"))
    };
    let read: Value = serde_json::from_str(&flow(HOSTILE)).expect("JSON");
    assert_eq!(json(&["export", "flow.json"])["name"], read["name"]);
    assert_eq!(json(&["export", "app"])[0]["inputs"], read["inputs"]);
    assert_eq!(
        json(&["list", "flow.json", "--json"])[0]["inputs"][0]["name"],
        HOSTILE
    );
    let changes = json(&["diff", "flow.json", "changed.json", "--json"]);
    assert_eq!(changes["flows"][0]["name"], format!("{HOSTILE}z"));
}

/// Words of the command line come from file names as well, as in `cargo flow check *`.
#[test]
fn the_command_line_is_text_of_others_too() {
    let folder = Folder::new();
    let path = format!("{HOSTILE}.json").replace('\0', "");
    let option = format!("--{HOSTILE}");
    for words in [
        &["list", &path][..],
        &["list", &option],
        &["list", "flow.json", &option],
        &["render", "flow.json", "--format", HOSTILE],
        &["export", "flow.json", "--depth", HOSTILE],
        &["--color", HOSTILE, "list"],
        &[HOSTILE],
        &["completions", HOSTILE],
        &["check", &path],
        &["diff", &path, &path],
        &["export", &path, "--flow", HOSTILE],
    ] {
        let said = said(&folder, words);
        assert_harmless(&said, words);
        assert!(
            !said
                .lines()
                .any(|line| line.contains("Forged") && !line.contains('x')),
            "{said}"
        );
    }
}

/// Files have names, and folders.
#[cfg(unix)]
#[test]
fn the_names_of_files_are_text_of_others_too() {
    let name = format!("{HOSTILE}.json");
    let folder = Folder::new()
        .with(&format!("flows/{name}"), flow(HOSTILE))
        .with(&name, broken(HOSTILE))
        .with("flow.json", flow("x y"));
    for words in [
        &["check", "flows", "flow.json"][..],
        &["check", "flow.json", &name],
        &["export", "flow.json", "--out", HOSTILE],
        &["render", "flow.json", "--out", &format!("{name}.txt")],
        &["list", &name],
    ] {
        let said = said(&folder, words);
        assert_harmless(&said, words);
        let forged = |line: &&str| line.starts_with("Forged") || line.starts_with("\\u");
        assert_eq!(said.lines().find(forged), None, "{words:?}\n{said}");
    }
}

/// With colours, the only escapes are those of the program itself.
#[test]
fn colours_are_no_way_in() {
    let (hostile, plain) = (folder(HOSTILE), folder(HARMLESS));
    for words in COMMANDS {
        let coloured = [words, &["--color", "always"]].concat();
        let (said, expected) = (said(&hostile, &coloured), said(&plain, &coloured));
        let escapes = |text: &str| text.matches('\u{1b}').count();
        assert_eq!(escapes(&said), escapes(&expected), "{words:?}:\n{said}");
    }
}
