//! Follows `docs/tutorial.md` word for word, in an empty folder: makes the package, puts the items
//! of each block into `src/main.rs`, runs the commands, and compares what they print. And makes the
//! mistake that the README shows, and draws its picture.

// The page has the commands of a Unix shell.
#![cfg(unix)]

mod page;
mod program;
mod terminal;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use page::Block;
use program::Program;
use terminal::Terminal;

/// How long the program at the end may be.
const LONGEST_PROGRAM: usize = 127;

#[test]
fn word_for_word() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let blocks = page::blocks(&repository.join("docs/tutorial.md"));
    let (last, steps) = blocks.split_last().expect("the page has blocks");

    let folder = tempfile::tempdir().expect("an empty folder");
    symlink(&repository, folder.path().join("typed-flows")).expect("a copy of the repository");
    let mut terminal = Terminal::new(folder.path(), &repository);
    let mut program = Program::default();
    for Block {
        line,
        language,
        text,
    } in steps
    {
        match language.as_str() {
            "console" => terminal.follow(*line, text),
            "rust" => {
                program.edit(text);
                fs::write(terminal.place().join("src/main.rs"), program.text())
                    .unwrap_or_else(|error| panic!("line {line}: {error}"));
            }
            other => panic!("line {line}: what is a reader to do with `{other}`?"),
        }
    }

    let mut whole = Program::default();
    whole.edit(&last.text);
    assert_eq!(
        whole.sorted(),
        program.sorted(),
        "the whole program is that of the steps"
    );
    let lines = last.text.lines().count();
    assert!(lines <= LONGEST_PROGRAM, "the program has {lines} lines");
    fs::write(terminal.place().join("src/main.rs"), &last.text)
        .expect("the program can be written");
    terminal.follow(last.line, "$ cargo fmt --check\n$ cargo build -q\n");
}

#[test]
fn the_mistake_and_the_picture_in_the_readme() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let blocks = page::blocks(&repository.join("README.md"));
    let [program, message, ..] = &blocks[..] else {
        panic!("the README begins with a program and a message");
    };
    let (right, wrong) = (r#">> end("rejected");"#, ">> pay;");
    assert!(program.text.contains(right));

    let folder = tempfile::tempdir().expect("an empty folder");
    let mut terminal = Terminal::new(folder.path(), &repository);
    symlink(&repository, folder.path().join("typed-flows")).expect("a copy of the repository");
    terminal.follow(
        0,
        "$ cargo new expense\n$ cd expense\n$ cargo add --path ../typed-flows\n\
         $ cargo add tokio --features macros,rt-multi-thread,time\n",
    );
    let source = terminal.place().join("src/main.rs");
    fs::write(&source, program.text.replace(right, wrong)).expect("the program can be written");
    terminal.follow(
        message.line,
        &format!("$ cargo run -q\n{}…\n", message.text),
    );

    fs::write(&source, &program.text).expect("the program can be written");
    terminal.follow(program.line, "$ cargo run -q\n");
    let mut draw = Command::new(flow_services::program("typed-flows-cli", "cargo-flow"));
    draw.args(["flow", "render", "--format", "svg"]);
    let drawn = draw.arg(terminal.program("expense")).output();
    let picture = fs::read_to_string(repository.join("docs/expense.svg")).expect("a picture");
    assert_eq!(
        String::from_utf8_lossy(&drawn.expect("it is drawn").stdout),
        picture
    );
}
