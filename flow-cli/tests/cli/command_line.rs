//! The command line itself: the word `flow`, help, exit codes, colours, pipes and completions.

use std::io::Read;
use std::process::Stdio;

use insta::assert_snapshot;

use crate::files::*;
use crate::program::{EXPENSE, Folder, QA};

#[test]
fn cargo_adds_the_word_flow() {
    let folder = Folder::new().with("qa.json", QA);
    assert_eq!(folder.run("flow export qa.json"), QA);
    assert_eq!(folder.run("export qa.json"), QA);
}

#[test]
fn every_command_has_help_with_examples() {
    let folder = Folder::new();
    for command in [
        "",
        "new",
        "list",
        "export",
        "render",
        "check",
        "diff",
        "fmt",
        "completions",
        #[cfg(feature = "executions")]
        "executions",
    ] {
        let help = folder.run(&format!("flow {command} --help"));
        assert!(
            help.contains("Examples:\n  cargo flow "),
            "{command}: {help}"
        );
        assert!(help.contains("Usage: cargo flow"), "{command}: {help}");
    }
    assert_snapshot!(folder.run("list -h"), @"
    List the flows with their inputs, outputs and ends

    Usage: cargo flow list [OPTIONS] [FILE]

    Arguments:
      [FILE]  An executable, a library, an object, a WebAssembly module, or a flow as JSON or YAML

    Options:
          --json          Print JSON
          --color <WHEN>  When to use colours: `auto` means on a terminal [default: auto] [possible values: auto, always, never]
      -h, --help          Print help

    Build options, without a FILE:
      -p, --package <SPEC>        The package to build; may be given several times
          --workspace             Build all packages of the workspace that depend on typed-flows
          --lib                   Build the library
          --bin <NAME>            Build this executable; may be given several times
          --example <NAME>        Build this example; may be given several times
          --examples              Build all examples
      -r, --release               Build with optimisations
          --profile <NAME>        Build with this profile
      -F, --features <FEATURES>   Turn these features on
          --all-features          Turn all features on
          --no-default-features   Leave the default features off
          --locked                Leave Cargo.lock as it is
          --offline               Build without the network
          --target <TRIPLE>       Build for this platform
          --manifest-path <PATH>  The package's Cargo.toml

    Examples:
      cargo flow list
      cargo flow list target/release/app
      cargo flow list --package shop --release --json
    ");
    assert_snapshot!(folder.run("check --help"), @"
    Check that exported flows are up to date, or that flows in JSON or YAML are sound

    Usage: cargo flow check [OPTIONS] DIR [FILE]
           cargo flow check FLOW.json|FLOW.yaml...

    Arguments:
      <PATH>     A folder of exported flows, or a flow as JSON or YAML
      [FILE]...  The program to compare the folder with, or more flows

    Options:
          --depth <LEVELS>  The number of levels of nested flows in the exported folder [default: 10]
          --color <WHEN>    When to use colours: `auto` means on a terminal [default: auto] [possible values: auto, always, never]
      -h, --help            Print help

    Build options, without a FILE:
      -p, --package <SPEC>        The package to build; may be given several times
          --workspace             Build all packages of the workspace that depend on typed-flows
          --lib                   Build the library
          --bin <NAME>            Build this executable; may be given several times
          --example <NAME>        Build this example; may be given several times
          --examples              Build all examples
      -r, --release               Build with optimisations
          --profile <NAME>        Build with this profile
      -F, --features <FEATURES>   Turn these features on
          --all-features          Turn all features on
          --no-default-features   Leave the default features off
          --locked                Leave Cargo.lock as it is
          --offline               Build without the network
          --target <TRIPLE>       Build for this platform
          --manifest-path <PATH>  The package's Cargo.toml

    With a folder: whether it has the flows of FILE, or of the package here, and nothing else. `cargo flow export --out`
    writes it. Changes are shown as `cargo flow diff` shows them.
    With flows in JSON or YAML: whether they are sound. Each problem comes with its line and column. The codes, such as F007,
    are those of the compiler's messages.

    Examples:
      cargo flow check flows
      cargo flow check flows target/release/app
      cargo flow check flows/expense_approval.json drafts/*.yaml
    ");
}

#[test]
fn a_mistake_on_the_command_line_has_the_exit_code_2() {
    let folder = Folder::new().with("qa.json", QA);
    assert_snapshot!(folder.run("lst"), @"
    [stderr]
    error: unrecognized subcommand 'lst'

      tip: a similar subcommand exists: 'list'

    Usage: cargo flow [OPTIONS] <COMMAND>

    For more information, try '--help'.
    [exit code 2]
    ");
    assert_snapshot!(folder.run("list qa.json --release"), @"
    [stderr]
    error: the argument '[FILE]' cannot be used with:
      --release
      --package <SPEC>
      --workspace
      --lib
      --bin <NAME>
      --example <NAME>
      --examples
      --profile <NAME>
      --features <FEATURES>
      --all-features
      --no-default-features
      --locked
      --offline
      --target <TRIPLE>
      --manifest-path <PATH>

    Usage: cargo flow list <FILE>

    For more information, try '--help'.
    [exit code 2]
    ");
    assert_snapshot!(folder.run("check flows app --release"), @"
    [stderr]
    error: the argument '[FILE]...' cannot be used with:
      --release
      --package <SPEC>
      --workspace
      --lib
      --bin <NAME>
      --example <NAME>
      --examples
      --profile <NAME>
      --features <FEATURES>
      --all-features
      --no-default-features
      --locked
      --offline
      --target <TRIPLE>
      --manifest-path <PATH>

    Usage: cargo flow check [OPTIONS] DIR [FILE]
           cargo flow check FLOW.json|FLOW.yaml...

    For more information, try '--help'.
    [exit code 2]
    ");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let flows: Vec<String> = (0..2000)
        .map(|number| QA.replace("\"qa\"", &format!("\"qa{number}\"")))
        .collect();
    let flows: Vec<&str> = flows.iter().map(String::as_str).collect();
    let folder = Folder::new().with("app", elf(&records(&flows)));
    let mut command = folder.command("export app");
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut output = child.stdout.take().expect("a pipe");
    output.read_exact(&mut [0; 1]).expect("some output");
    drop(output);
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
    assert!(ended.status.success(), "{}", ended.status);
}

#[test]
fn colours_are_for_terminals() {
    let folder = Folder::new()
        .with("qa.json", QA)
        .with("flows/qa.json", EXPENSE);
    for words in ["list qa.json", "list none", "check flows qa.json"] {
        assert!(!folder.run(words).contains('\x1b'), "{words}");
        let coloured = folder.run(&format!("{words} --color always"));
        assert!(coloured.contains('\x1b'), "{words}");
        assert!(
            !folder
                .run(&format!("--color never {words}"))
                .contains('\x1b'),
            "{words}"
        );
    }
    let plain =
        anstream::adapter::strip_str(&folder.run("list qa.json --color always")).to_string();
    assert_eq!(plain, folder.run("list qa.json"));
}

#[test]
fn completions_know_the_commands() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = folder.run(&format!("completions {shell}"));
        for word in ["cargo-flow", "export", "render", "manifest-path"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}
