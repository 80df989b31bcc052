//! What a user sees when a file cannot be read. Every message names the file, and says what to do.

use insta::assert_snapshot;

use crate::files::*;
use crate::program::{EXPENSE, Folder, QA};

fn list(name: &str, content: impl AsRef<[u8]>) -> String {
    Folder::new()
        .with(name, content)
        .run(&format!("list {name}"))
}

#[test]
fn no_file() {
    assert_snapshot!(Folder::new().run("list app"), @"
    [stderr]
    error: cannot read `app`: No such file or directory (os error 2)
    [exit code 2]
    ");
}

#[test]
fn a_folder() {
    assert_snapshot!(Folder::new().with("src/main.rs", "").run("list src"), @"
    [stderr]
    error: `src` is a folder
           help: name a file in it
    [exit code 2]
    ");
}

#[test]
fn no_binary() {
    assert_snapshot!(list("run.sh", "#!/bin/sh\nexec app\n"), @"
    [stderr]
    error: `run.sh` is neither a binary nor a flow document: it is a script
           help: name an executable, a library, an object, a WebAssembly module, or a flow as `.json` or `.yaml`
    [exit code 2]
    ");
    assert_snapshot!(list("empty", ""), @"
    [stderr]
    error: `empty` is neither a binary nor a flow document: it is empty
           help: name an executable, a library, an object, a WebAssembly module, or a flow as `.json` or `.yaml`
    [exit code 2]
    ");
    assert_snapshot!(list("main.rs", "fn main() {}\n"), @"
    [stderr]
    error: `main.rs` is neither a binary nor a flow document: it is text
           help: name an executable, a library, an object, a WebAssembly module, or a flow as `.json` or `.yaml`
    [exit code 2]
    ");
    assert_snapshot!(list("app.zip", b"PK\x03\x04rest of the archive"), @"
    [stderr]
    error: `app.zip` is neither a binary nor a flow document: it is a zip archive
           help: name an executable, a library, an object, a WebAssembly module, or a flow as `.json` or `.yaml`
    [exit code 2]
    ");
    assert_snapshot!(list("zero", [0; 4096]), @"
    [stderr]
    error: `zero` is neither a binary nor a flow document: it is nothing but zero bytes
           help: name an executable, a library, an object, a WebAssembly module, or a flow as `.json` or `.yaml`
    [exit code 2]
    ");
    assert_snapshot!(list("blob", [1, 2, 3, 255, 254, 0, 7]), @"
    [stderr]
    error: `blob` is neither a binary nor a flow document: it is of a kind that is not known
           help: name an executable, a library, an object, a WebAssembly module, or a flow as `.json` or `.yaml`
    [exit code 2]
    ");
}

#[test]
fn no_flows() {
    assert_snapshot!(list("app", plain_object()), @"
    [stderr]
    error: no flows in `app`
           it is built without flow-runtime, or from nothing that has flows: a library that its program never names is not linked
           help: name something of that library in the program, or name the library's own file instead
    [exit code 2]
    ");
    assert_snapshot!(list("app.wasm", b"\0asm\x01\0\0\0\0\x0b\x09producers\0"), @"
    [stderr]
    error: no flows in `app.wasm`
           it is built without flow-runtime, or from nothing that has flows: a library that its program never names is not linked
           help: name something of that library in the program, or name the library's own file instead
    [exit code 2]
    ");
    assert_snapshot!(list("libempty.a", "!<arch>\n"), @"
    [stderr]
    error: no flows in `libempty.a`
           it is built without flow-runtime, or from nothing that has flows: a library that its program never names is not linked
           help: name something of that library in the program, or name the library's own file instead
    [exit code 2]
    ");
    assert_snapshot!(list("none.json", "[]"), @"
    [stderr]
    error: no flows in `none.json`
    [exit code 2]
    ");
}

#[test]
fn the_section_is_stripped() {
    assert_snapshot!(list("app", elf_without_sections()), @"
    [stderr]
    error: no flows in `app`
           it has no sections that flows could be in: they were removed
           help: leave the sections in: `strip` and `strip = true` keep the flows, `--strip-sections` and `wasm-strip` do not
    [exit code 2]
    ");
    assert_snapshot!(list("app.wasm", b"\0asm\x01\0\0\0"), @"
    [stderr]
    error: no flows in `app.wasm`
           it has no sections that flows could be in: they were removed
           help: leave the sections in: `strip` and `strip = true` keep the flows, `--strip-sections` and `wasm-strip` do not
    [exit code 2]
    ");
}

#[test]
fn objects_that_are_not_there_yet() {
    assert_snapshot!(list("lib.rlib", archive(&[("a.o", b"BC\xc0\xde bitcode")])), @"
    [stderr]
    error: no flows in `lib.rlib`
           its code is kept for link-time optimisation, and is not compiled yet
           help: name the program that it is linked into
    [exit code 2]
    ");
    assert_snapshot!(list("lib.a", "!<thin>\n"), @"
    [stderr]
    error: no flows in `lib.a`
           it is a thin archive, which only names its members
           help: name its members, or make an archive that holds them
    [exit code 2]
    ");
}

#[test]
fn a_truncated_file() {
    let content = records(&[EXPENSE]);
    let cut = |mut file: Vec<u8>, length: usize| {
        file.truncate(length);
        file
    };
    let elf = elf(&content);
    let half = elf.len() / 2;
    assert_snapshot!(list("app", cut(elf.clone(), half)), @"
    [stderr]
    error: `app` is truncated or damaged: Invalid ELF section header offset/size/alignment
           help: build or copy it again
    [exit code 2]
    ");
    assert_snapshot!(list("app", cut(elf.clone(), 10)), @"
    [stderr]
    error: `app` is truncated or damaged: Could not read file magic
           help: build or copy it again
    [exit code 2]
    ");
    assert_snapshot!(list("app.exe", cut(pe(&content), 1500)), @"
    [stderr]
    error: `app.exe` is truncated or damaged: its section `flowspec` ends at byte 3056, and the file at byte 1500
           help: build or copy it again
    [exit code 2]
    ");
    assert_snapshot!(list("app.wasm", cut(wasm(&content), 500)), @"
    [stderr]
    error: `app.wasm` is truncated or damaged: unexpected end-of-file at byte 24
           help: build or copy it again
    [exit code 2]
    ");
    let library = archive(&[("plain.o", &plain_object()), ("expense.o", &elf)]);
    assert_snapshot!(list("lib.a", cut(library, 2000)), @"
    [stderr]
    error: `lib.a(expense.o)` is truncated or damaged: it ends at byte 3192, and the archive at byte 2000
           help: build or copy it again
    [exit code 2]
    ");
    assert_snapshot!(list("lib.rlib", archive(&[("expense.o", &elf[..half])])), @"
    [stderr]
    error: `lib.rlib(expense.o)` is truncated or damaged: Invalid ELF section header offset/size/alignment
           help: build or copy it again
    [exit code 2]
    ");
    assert_snapshot!(list("app", cut(universal([&macho(&content), &macho(&content)]), 9000)), @"
    [stderr]
    error: `app` is truncated or damaged: its part for one processor ends at byte 10632, and the file at byte 9000
           help: build or copy it again
    [exit code 2]
    ");
}

#[test]
fn a_broken_record() {
    let whole = record_of(1, &compact(QA));
    assert_snapshot!(list("app.wasm", wasm(&whole[..200])), @"
    [stderr]
    error: `app.wasm` has a broken record at byte 33: it says that it is 726 bytes long, and the section ends before
           help: build it again: something has changed its section `flowspec`
    [exit code 2]
    ");
    assert_snapshot!(list("app.wasm", wasm(&whole[..12])), @"
    [stderr]
    error: `app.wasm` has a broken record at byte 32: the section ends inside of it
           help: build it again: something has changed its section `flowspec`
    [exit code 2]
    ");
    assert_snapshot!(list("app.wasm", wasm(&[&whole[..], b"left behind"].concat())), @"
    [stderr]
    error: `app.wasm` has a broken record at byte 775: it does not begin with `FLOWSPEC`
           help: build it again: something has changed its section `flowspec`
    [exit code 2]
    ");
    let mut latin = whole.clone();
    latin[100] = 0xfc;
    assert_snapshot!(list("app.wasm", wasm(&latin)), @"
    [stderr]
    error: `app.wasm` has a broken record at byte 33: it is not UTF-8
           help: build it again: something has changed its section `flowspec`
    [exit code 2]
    ");
}

#[test]
fn a_newer_format() {
    assert_snapshot!(list("app", elf(&record_of(3, "whatever comes"))), @"
    [stderr]
    error: `app` has flows in a newer format: version 3; this cargo-flow reads 1
           help: update it: install the newest `typed-flows-cli`
    [exit code 2]
    ");
    let library = archive(&[("new.o", &elf(&record_of(2, "{}")))]);
    assert_snapshot!(list("lib.rlib", library), @"
    [stderr]
    error: `lib.rlib(new.o)` has flows in a newer format: version 2; this cargo-flow reads 1
           help: update it: install the newest `typed-flows-cli`
    [exit code 2]
    ");
}

#[test]
fn a_newer_document() {
    let newer = compact(QA).replace("2.0.0", "3.0.0");
    assert_snapshot!(list("app", elf(&record_of(1, &newer))), @"
    [stderr]
    error: the record at byte 96 of `app` is not a flow
           /version: the format has the version 3.0.0, and this program reads 2.0.0 [F023]
             help: export the flow again, or use a version of this program for it
           help: if a newer typed-flows built it, update this program: install the newest `typed-flows-cli`
    [exit code 2]
    ");
}

#[test]
fn json_that_is_no_flow() {
    assert_snapshot!(list("package.json", r#"{ "name": "app", "private": true }"#), @r#"
    [stderr]
    error: `package.json` is not a flow
           1:18: there is no field `private` here [F023]
             at /private
             help: there is `version`, `namespace`, `name`, `description`, `inputs`, `outputs`, `nodes`, `edges`, `ends`, `entryNodeId`, `entryMappings`, `dependencies`
           1:1: `version` is missing [F023]
             help: write `"version": "2.0.0"`
           1:1: `nodes` is missing [F023]
             help: list the flow's nodes, each with `type` and `id`: `"nodes": [ … ]`
           1:1: `edges` is missing [F023]
             help: list the flow's edges, each with `from`, `to` and `condition`: `"edges": [ … ]`
    [exit code 2]
    "#);
    assert_snapshot!(list("broken.json", "{\n  \"version\": \"2.0.0\",\n"), @"
    [stderr]
    error: `broken.json` is not a flow
           3:1: this is not JSON: EOF while parsing a value [F023]
    [exit code 2]
    ");
    assert_snapshot!(list("flow", r#"[{ "version": "2.0.0", "nodes": [], "edges": [] }, { "nodes": 1 }]"#), @r#"
    [stderr]
    error: `flow` is not a flow
           1:24: the flow has no nodes [F018]
             at /0/nodes
             help: add the node that runs first, or an entry without `from` to `ends` if the flow does nothing
           1:52: `version` is missing [F023]
             at /1
             help: write `"version": "2.0.0"`
           1:52: `edges` is missing [F023]
             at /1
             help: list the flow's edges, each with `from`, `to` and `condition`: `"edges": [ … ]`
           1:63: `nodes` is 1, and should be a list [F023]
             at /1/nodes
    [exit code 2]
    "#);
    assert_snapshot!(list("latin.json", b"{ \"version\": \"\xfc\" }"), @"
    [stderr]
    error: `latin.json` is not a flow
           1:15: this byte is not UTF-8 [F023]
    [exit code 2]
    ");
}

/// As in a document of its own.
#[test]
fn a_name_that_stands_twice_is_found_in_a_list_too() {
    let twice = r#"[{ "version": "2.0.0", "version": "2.0.0", "nodes": [{ "type": "a", "id": "a" }], "edges": [] }]"#;
    assert_snapshot!(list("flows.json", twice), @"
    [stderr]
    error: `flows.json` is not a flow
           1:24: `version` stands twice in this object [F023]
             at /0/version
             the first one (line 1, column 4)
             help: remove one of them: only one could be read, and the other would be lost
    [exit code 2]
    ");
}

#[test]
fn text_of_others_does_not_steer_the_terminal() {
    assert_snapshot!(list("flow.json", r#"{ "\u001b[2Jgone": 1 }"#), @r#"
    [stderr]
    error: `flow.json` is not a flow
           1:3: there is no field `\u{1b}[2Jgone` here [F023]
             at /\u{1b}[2Jgone
             help: there is `version`, `namespace`, `name`, `description`, `inputs`, `outputs`, `nodes`, `edges`, `ends`, `entryNodeId`, `entryMappings`, `dependencies`
           1:1: `version` is missing [F023]
             help: write `"version": "2.0.0"`
           1:1: `nodes` is missing [F023]
             help: list the flow's nodes, each with `type` and `id`: `"nodes": [ … ]`
           1:1: `edges` is missing [F023]
             help: list the flow's edges, each with `from`, `to` and `condition`: `"edges": [ … ]`
    [exit code 2]
    "#);
}
