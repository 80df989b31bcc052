//! Without a file, the package is built and what comes of it is read.

use crate::files::*;
use crate::program::{EXPENSE, Folder, QA};

/// What `flow!` leaves in a program, as far as linkers see it.
const EMBEDS: &str = r#"
#[used]
#[cfg_attr(target_vendor = "apple", link_section = "__DATA,__flowspec")]
#[cfg_attr(not(target_vendor = "apple"), link_section = "flowspec")]
static FLOW: [u8; include_bytes!("RECORD").len()] = *include_bytes!("RECORD");
"#;

const MANIFEST: &str = r#"
[package]
name = "shop"
version = "0.1.0"
edition = "2021"

[profile.release]
lto = "fat"
strip = true
"#;

fn embeds(record: &str) -> String {
    EMBEDS.replace("RECORD", record)
}

/// A program with the flow Qa, and an example with ExpenseApproval.
fn shop() -> Folder {
    Folder::new()
        .with("Cargo.toml", MANIFEST)
        .with("qa.record", records(&[QA]))
        .with("expense.record", records(&[EXPENSE]))
        .with(
            "src/main.rs",
            format!("fn main() {{}}{}", embeds("../qa.record")),
        )
        .with(
            "examples/expense.rs",
            format!("fn main() {{}}{}", embeds("../expense.record")),
        )
}

/// Standard output alone: cargo's own words differ from run to run.
fn output(folder: &Folder, words: &str) -> String {
    let output = folder.command(words).output().expect("cargo-flow runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The last lines of standard error, from cargo-flow's own on, and the exit code.
fn failure(folder: &Folder, words: &str) -> String {
    let seen = folder.run_here(words);
    let at = seen
        .rfind("error: ")
        .unwrap_or_else(|| panic!("{words}: {seen}"));
    seen[at..].to_owned()
}

#[test]
fn the_package_here_is_built() {
    let shop = shop();
    assert_eq!(output(&shop, "export"), QA);
    assert_eq!(output(&shop, "export --example expense"), EXPENSE);
    assert_eq!(output(&shop, "export --release --bin shop"), QA);
    let shop = shop.with("flows/qa.json", QA).with("elsewhere/x", "");
    assert_eq!(output(&shop, "check flows"), "");
    assert_eq!(output(&shop, "diff flows"), "no changes\n");
    let mut elsewhere = shop.command("export --manifest-path ../Cargo.toml");
    let seen = elsewhere
        .current_dir(shop.path().join("elsewhere"))
        .output();
    assert_eq!(String::from_utf8_lossy(&seen.expect("it runs").stdout), QA);
}

#[test]
fn cargo_finds_it_as_its_own_command() {
    let shop = shop();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_cargo-flow"));
    let mut path = std::ffi::OsString::from(program.parent().expect("a folder"));
    path.push(if cfg!(windows) { ";" } else { ":" });
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let seen = std::process::Command::new(env!("CARGO"))
        .args(["flow", "export"])
        .current_dir(shop.path())
        .env("CARGO_TARGET_DIR", shop.path().join("target"))
        .env("PATH", path)
        .output()
        .expect("cargo runs");
    assert_eq!(
        String::from_utf8_lossy(&seen.stdout),
        QA,
        "{}",
        String::from_utf8_lossy(&seen.stderr)
    );
}

#[test]
fn a_library_is_read_where_no_program_has_flows() {
    let library = Folder::new()
        .with("Cargo.toml", MANIFEST)
        .with("qa.record", records(&[QA]))
        .with("src/lib.rs", embeds("../qa.record"));
    assert_eq!(output(&library, "export"), QA);
    let both = library.with("src/main.rs", "fn main() {}");
    assert_eq!(output(&both, "export"), QA);
}

#[test]
fn a_shared_library_is_read() {
    let library = Folder::new()
        .with(
            "Cargo.toml",
            format!("{MANIFEST}\n[lib]\ncrate-type = [\"cdylib\"]\n"),
        )
        .with("qa.record", records(&[QA]))
        .with("src/lib.rs", embeds("../qa.record"));
    assert_eq!(output(&library, "export --release"), QA);
}

#[test]
fn only_the_packages_that_were_asked_for_are_read() {
    let member = |name: &str, dependencies: &str| {
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\n{dependencies}"
        )
    };
    let workspace = Folder::new()
        .with(
            "Cargo.toml",
            "[workspace]\nmembers = [\"one\", \"two\"]\nresolver = \"2\"\n",
        )
        .with("one/Cargo.toml", member("one", ""))
        .with("one/record", records(&[QA]))
        .with("one/src/lib.rs", embeds("../record"))
        .with(
            "two/Cargo.toml",
            member("two", "one = { path = \"../one\" }"),
        )
        .with("two/record", records(&[EXPENSE]))
        .with("two/src/lib.rs", embeds("../record"));
    assert_eq!(output(&workspace, "export --package two"), EXPENSE);
    assert_eq!(output(&workspace, "export -p one@0.1.0"), QA);
    assert_eq!(
        output(&workspace, "export --manifest-path two/Cargo.toml"),
        EXPENSE
    );
    assert_eq!(
        output(&workspace, "list --json")
            .matches("\"namespace\"")
            .count(),
        2
    );
}

/// Tests, benches and examples are built only if they are asked for, and packages only if they depend
/// on the runtime.
#[test]
fn what_has_no_flows_is_not_built() {
    const BROKEN: &str = "fn main() { 1 }";
    let member = |name: &str, dependencies: &str| {
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{dependencies}"
        )
    };
    let runtime = "typed-flows-runtime = { path = \"../runtime\" }\n";
    let workspace = Folder::new()
        .with(
            "Cargo.toml",
            "[workspace]\nmembers = [\"*/\"]\nexclude = [\"target\", \"flows\"]\nresolver = \"2\"\n",
        )
        .with("runtime/Cargo.toml", member("typed-flows-runtime", ""))
        .with("runtime/src/lib.rs", "")
        .with(
            "shop/Cargo.toml",
            member("shop", &format!("[dependencies]\n{runtime}")),
        )
        .with("shop/record", records(&[QA]))
        .with("shop/src/lib.rs", embeds("../record"))
        .with("shop/tests/broken.rs", BROKEN)
        .with("shop/benches/broken.rs", BROKEN)
        .with("shop/examples/broken.rs", BROKEN)
        .with(
            "desk/Cargo.toml",
            member("desk", "[dependencies]\nshop = { path = \"../shop\" }\n"),
        )
        .with("desk/record", records(&[EXPENSE]))
        .with("desk/src/lib.rs", embeds("../record"))
        .with(
            "tools/Cargo.toml",
            member("tools", &format!("[dev-dependencies]\n{runtime}")),
        )
        .with("tools/src/main.rs", BROKEN)
        .with("flows/qa.json", QA)
        .with("flows/expense_approval.json", EXPENSE);
    for words in ["check flows", "check flows --workspace --offline"] {
        assert_eq!(output(&workspace, words), "", "{words}");
    }
    assert_eq!(output(&workspace, "export --package shop"), QA);
    let named = failure(&workspace, "check flows --package tools");
    assert!(
        named.starts_with("error: the package does not build"),
        "{named}"
    );
}

#[test]
fn what_cannot_be_built() {
    let broken = Folder::new()
        .with("Cargo.toml", MANIFEST)
        .with("src/main.rs", "fn main() { 1 }");
    insta::assert_snapshot!(failure(&broken, "list"), @"
    error: the package does not build
           help: cargo says above why; if a file is there already, name it instead
    [exit code 2]
    ");
    insta::assert_snapshot!(failure(&Folder::new(), "list"), @"
    error: the package does not build
           help: cargo says above why; if a file is there already, name it instead
    [exit code 2]
    ");
    let none = Folder::new()
        .with("Cargo.toml", MANIFEST)
        .with("src/main.rs", "fn main() {}");
    let target = none.path().join("target").join("debug");
    let program = target.join(format!("shop{}", std::env::consts::EXE_SUFFIX));
    let seen = failure(&none, "list").replace(&program.display().to_string(), "shop");
    insta::assert_snapshot!(seen, @"
    error: no flows in `shop`
           it is built without flow-runtime, or from nothing that has flows: a library that its program never names is not linked
           help: name something of that library in the program, or name the library's own file instead
    [exit code 2]
    ");
}
