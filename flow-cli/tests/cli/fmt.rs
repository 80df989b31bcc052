//! `cargo flow fmt`

use std::io::Write as _;
use std::process::Stdio;

use insta::assert_snapshot;

use crate::program::Folder;

const UGLY: &str = "flow!{Qa(question: String){start>>answer>>end;}}\n";
const PRETTY: &str = "flow!{
    Qa(question: String) {
        start >> answer >> end;
    }
}
";
const WRONG: &str =
    "fn main() {}\n\nflow! {\n    Qa() { start >> answer; answer - yes >> end; }\n}\n";

const MANIFEST: &str = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";

#[test]
fn files_and_folders_are_formatted() {
    let folder = Folder::new()
        .with("one.rs", UGLY)
        .with("done.rs", PRETTY)
        .with("src/a.rs", UGLY)
        .with("src/inner/b.rs", UGLY)
        .with("src/notes.md", UGLY)
        .with("src/target/c.rs", UGLY)
        .with("src/.hidden/d.rs", UGLY);
    assert_snapshot!(folder.run("fmt one.rs done.rs src src/a.rs"), @"
    [stderr]
    formatted one.rs
    formatted src/a.rs
    formatted src/inner/b.rs
    ");
    for name in ["one.rs", "done.rs", "src/a.rs", "src/inner/b.rs"] {
        assert_eq!(folder.read(name), PRETTY, "{name}");
    }
    for name in ["src/notes.md", "src/target/c.rs", "src/.hidden/d.rs"] {
        assert_eq!(folder.read(name), UGLY, "{name}");
    }
    assert_eq!(folder.names("."), ["done.rs", "one.rs", "src"]);
    assert_eq!(folder.run("fmt one.rs src"), "");
}

#[test]
fn a_check_writes_nothing_and_shows_what_would_change() {
    let folder = Folder::new()
        .with("qa.rs", UGLY)
        .with("windows.rs", UGLY.replace('\n', "\r\n"));
    assert_snapshot!(folder.run("fmt --check qa.rs windows.rs"), @"
    qa.rs is not formatted
    @@ -1 +1,5 @@
    -flow!{Qa(question: String){start>>answer>>end;}}
    +flow!{
    +    Qa(question: String) {
    +        start >> answer >> end;
    +    }
    +}
    windows.rs is not formatted
    @@ -1 +1,5 @@
    -flow!{Qa(question: String){start>>answer>>end;}}
    +flow!{
    +    Qa(question: String) {
    +        start >> answer >> end;
    +    }
    +}
    [exit code 1]
    ");
    assert_eq!(folder.read("qa.rs"), UGLY);
    folder.run("fmt .");
    assert_eq!(folder.run("fmt --check ."), "");
    assert_eq!(folder.read("windows.rs"), PRETTY.replace('\n', "\r\n"));
}

#[test]
fn what_cannot_be_formatted_is_reported_and_the_rest_is_formatted() {
    let folder = Folder::new()
        .with("a.rs", format!("{WRONG}{UGLY}"))
        .with("b.rs", UGLY)
        .with("latin.rs", b"// \xe9\n")
        .with("unclosed.rs", "flow! { Qa() {");
    assert_snapshot!(folder.run("fmt a.rs b.rs latin.rs unclosed.rs none.rs"), @"
    [stderr]
    error: cannot format `a.rs:4:38`: expected an action in quotes: `- \"action\" >>`
    formatted a.rs
    formatted b.rs
    error: cannot read `latin.rs`: invalid utf-8 sequence of 1 bytes from index 3
    error: cannot format `unclosed.rs:1:14`: this bracket is not closed
    error: cannot read `none.rs`: No such file or directory (os error 2)
    [exit code 2]
    ");
    assert_eq!(folder.read("a.rs"), format!("{WRONG}{PRETTY}"));
    assert_eq!(folder.read("b.rs"), PRETTY);
    let with_check = folder.with("b.rs", UGLY).run("fmt --check a.rs b.rs");
    assert!(with_check.contains("b.rs is not formatted"), "{with_check}");
    assert!(with_check.ends_with("[exit code 2]"), "{with_check}");
}

/// What the program prints for this standard input, and its exit code.
fn piped(words: &str, input: &[u8]) -> (String, i32) {
    let mut command = Folder::new().command(words);
    let mut child = command
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(input).expect("it reads");
    drop(pipe);
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    (text, output.status.code().expect("no signal ends it"))
}

#[test]
fn standard_input_is_formatted_to_standard_output() {
    assert_eq!(piped("fmt -", UGLY.as_bytes()), (PRETTY.to_owned(), 0));
    // Byte for byte, also what would be a colour of this program.
    let coloured = format!("const RED: &str = \"\u{1b}[31m\";\r\n{UGLY}");
    let (text, _) = piped("fmt -", coloured.as_bytes());
    assert!(
        text.starts_with("const RED: &str = \"\u{1b}[31m\";\r\nflow!{\r\n    Qa("),
        "{text:?}"
    );
    let both = format!("{WRONG}{UGLY}");
    assert_eq!(
        piped("fmt -", both.as_bytes()),
        (format!("{WRONG}{PRETTY}"), 2)
    );
    assert_eq!(
        piped("fmt - --check", PRETTY.as_bytes()),
        (String::new(), 0)
    );
    let (difference, code) = piped("fmt - --check", UGLY.as_bytes());
    assert!(
        difference.starts_with("standard input is not formatted\n"),
        "{difference}"
    );
    assert_eq!(code, 1);
    assert_eq!(piped("fmt -", b"\xe9"), (String::new(), 2));
}

#[test]
fn without_paths_the_modules_of_the_package_are_formatted() {
    let folder = Folder::new()
        .with("Cargo.toml", MANIFEST)
        .with(
            "src/main.rs",
            format!(
                "mod a;\n#[path = \"elsewhere.rs\"]\npub(crate) mod b;\nmod inline {{ mod c; }}\nmod r#type;\n\
                 #[cfg(none)] mod none;\n// mod comment;\nfn main() {{}}\n{UGLY}"
            ),
        )
        .with("src/a/mod.rs", format!("mod d;\n{UGLY}"))
        .with("src/a/d.rs", format!("mod e;\n{UGLY}"))
        .with("src/a/d/e.rs", UGLY)
        .with("src/elsewhere.rs", UGLY)
        .with("src/inline/c.rs", UGLY)
        .with("src/type.rs", UGLY)
        .with("src/comment.rs", UGLY)
        .with("examples/example.rs", UGLY)
        .with("tests/ui/wrong.rs", WRONG)
        .with("tests/all.rs", UGLY);
    let formatted = folder.run("fmt");
    let mut lines: Vec<&str> = formatted.lines().skip(1).collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "formatted examples/example.rs",
            "formatted src/a/d.rs",
            "formatted src/a/d/e.rs",
            "formatted src/a/mod.rs",
            "formatted src/elsewhere.rs",
            "formatted src/inline/c.rs",
            "formatted src/main.rs",
            "formatted src/type.rs",
            "formatted tests/all.rs",
        ]
    );
    assert_eq!(folder.run("fmt --check"), "");
    assert_eq!(folder.read("src/comment.rs"), UGLY);
}

#[test]
fn packages_are_chosen_as_in_the_other_commands() {
    let member = |name: &str| MANIFEST.replace("shop", name);
    let folder = Folder::new()
        .with(
            "Cargo.toml",
            "[workspace]\nmembers = [\"one\", \"two\"]\nresolver = \"3\"\n",
        )
        .with("one/Cargo.toml", member("one"))
        .with("one/src/lib.rs", UGLY)
        .with("two/Cargo.toml", member("two"))
        .with("two/src/lib.rs", UGLY);
    let found = |words: &str| {
        let seen = folder.run(&format!("fmt --check {words}"));
        (
            seen.contains("one/src/lib.rs"),
            seen.contains("two/src/lib.rs"),
        )
    };
    assert_eq!(found(""), (true, true));
    assert_eq!(found("--package two"), (false, true));
    assert_eq!(found("--manifest-path one/Cargo.toml"), (true, false));
    assert_eq!(
        found("--manifest-path one/Cargo.toml --workspace"),
        (true, true)
    );
    assert_snapshot!(folder.run("fmt -p twu"), @"
    [stderr]
    error: there is no package `twu`
           help: did you mean `two`?
    [exit code 2]
    ");
    let mixed = folder.run("fmt one --workspace");
    assert!(mixed.contains("cannot be used with"), "{mixed}");
}

#[test]
fn a_file_that_cannot_be_written_stays_as_it_was() {
    // The new file would have a longer name first.
    let name = format!("{}.rs", "a".repeat(250));
    let folder = Folder::new().with(&name, UGLY);
    let seen = folder.run(&format!("fmt {name}"));
    assert!(
        seen.contains(&format!("error: cannot write `{name}`: ")),
        "{seen}"
    );
    assert!(seen.ends_with("[exit code 2]"), "{seen}");
    assert_eq!(folder.read(&name), UGLY);
    assert_eq!(folder.names("."), [name]);
}

#[cfg(unix)]
#[test]
fn permissions_and_links_stay() {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let folder = Folder::new()
        .with("inside/script.rs", UGLY)
        .with("outside/a.rs", UGLY)
        .with("real.rs", UGLY);
    let path = |name: &str| folder.path().join(name);
    let script = path("inside/script.rs");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o750)).expect("it is there");
    symlink("../outside", path("inside/folder")).expect("a link");
    symlink("../outside/a.rs", path("inside/link.rs")).expect("a link");
    symlink(".", path("inside/round")).expect("a link");
    symlink("real.rs", path("link.rs")).expect("a link");
    assert_snapshot!(folder.run("fmt inside link.rs"), @"
    [stderr]
    formatted inside/script.rs
    formatted link.rs
    ");
    let mode = fs::metadata(&script)
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o750);
    assert_eq!(folder.read("outside/a.rs"), UGLY);
    assert_eq!(folder.read("real.rs"), PRETTY);
    let link = fs::symlink_metadata(path("link.rs")).expect("it is there");
    assert!(link.is_symlink());
}
