//! A person at the terminal, who sees what the program prints and presses keys.

use std::error::Error;
use std::process::Command;

use rexpect::session::{Options, PtySession, spawn_with_options};

use super::{Folder, PROGRAM};

/// How long the person waits for what is to come, in milliseconds.
const PATIENCE: u64 = 20_000;

const DOWN: &str = "\x1b[B";

/// Begins a run of the claim of Ann over 300 EUR, at a terminal.
fn begin(folder: &Folder, arguments: &[&str]) -> Result<PtySession, Box<dyn Error>> {
    let mut program = Command::new(&*PROGRAM);
    program
        .args(["run"])
        .args(arguments)
        .current_dir(folder.0.path());
    let options = Options::new()
        .timeout_ms(Some(PATIENCE))
        .strip_ansi_escape_codes(true);
    Ok(spawn_with_options(program, options)?)
}

fn press(person: &mut PtySession, keys: &str) -> Result<(), Box<dyn Error>> {
    person.send(keys)?;
    Ok(person.flush()?)
}

/// What is printed until the program is over, with one kind of line breaks.
fn rest(person: &mut PtySession) -> Result<String, Box<dyn Error>> {
    Ok(person.exp_eof()?.replace('\r', ""))
}

#[test]
fn a_person_grants_and_refuses() -> Result<(), Box<dyn Error>> {
    let folder = Folder::new();
    for (keys, end) in [
        (
            "\r",
            "\"receipt\": \"300 EUR for Ann\",\n  \"end\": \"default\"",
        ),
        (&*format!("{DOWN}\r"), "{\n  \"end\": \"refused\"\n}"),
    ] {
        let mut person = begin(&folder, &["Claim", "-q", "employee=Ann", "amount=300"])?;
        person.exp_string("Pay 300 EUR to Ann?")?;
        person.exp_string("Refused")?;
        press(&mut person, keys)?;
        let seen = rest(&mut person)?;
        assert!(seen.contains(end), "{seen}");
    }
    Ok(())
}

/// The flow of a file asks as that of the program does, with a prompt and a type of its own.
#[test]
fn a_flow_of_a_file_asks() -> Result<(), Box<dyn Error>> {
    let folder = Folder::new();
    folder.write(
        "asks.yaml",
        "\
version: 2.0.0
name: Asks
namespace: asks
inputs: { type: object, properties: { employee: {} }, required: [employee] }
outputs: { type: object, properties: {} }
nodes:
  - type: flow.human
    id: ask
    params: { prompt: 'May {employee} go?', expects: Approval }
edges: []
ends:
  - { from: ask, condition: granted, label: gone }
  - { from: ask, condition: refused, label: kept }
",
    );
    let mut person = begin(&folder, &["asks.yaml", "employee=Ann"])?;
    person.exp_string("asks.ask")?;
    person.exp_string("May Ann go?")?;
    person.exp_string("Refused")?;
    press(&mut person, &format!("{DOWN}\r"))?;
    let seen = rest(&mut person)?;
    assert!(seen.contains("asks.ask finished: refused"), "{seen}");
    assert!(seen.contains("\"end\": \"kept\""), "{seen}");
    Ok(())
}

/// What is done stands above what runs, which is gone while somebody is asked and when all is over.
#[test]
fn progress_moves_at_a_terminal() -> Result<(), Box<dyn Error>> {
    let folder = Folder::new();
    let mut person = begin(&folder, &["Claim", "employee=Ann", "amount=300"])?;
    person.exp_string("claim.size finished: large")?;
    person.exp_string("Pay 300 EUR to Ann?")?;
    person.exp_string("Refused")?;
    press(&mut person, "\r")?;
    let seen = rest(&mut person)?;
    let place = |text: &str| {
        seen.find(text)
            .ok_or_else(|| format!("no `{text}` in {seen}"))
    };
    let lines = [
        "claim.approval finished: granted",
        "claim.pay finished: default",
        "claim ended: default",
        "\"receipt\": \"300 EUR for Ann\"",
    ];
    let places: Vec<usize> = lines
        .iter()
        .map(|line| place(line))
        .collect::<Result<_, _>>()?;
    assert!(places.is_sorted(), "{seen}");
    assert!(!seen.contains("started"), "{seen}");
    Ok(())
}

/// What a value contains is shown, and does nothing to the terminal.
#[test]
fn values_cannot_control_the_terminal() -> Result<(), Box<dyn Error>> {
    let folder = Folder::new();
    let call = ["Claim", "-q", "employee=A\x1b[2Jnn\u{202e}", "amount=300"];
    let mut person = begin(&folder, &call)?;
    person.exp_string(r"Pay 300 EUR to A\u{1b}[2Jnn\u{202e}?")?;
    person.exp_string("Refused")?;
    press(&mut person, "\r")?;
    rest(&mut person)?;
    Ok(())
}

/// A person who presses ctrl-c ends the program, and nothing is paid.
#[test]
fn a_person_interrupts() -> Result<(), Box<dyn Error>> {
    let folder = Folder::new();
    let mut person = begin(&folder, &["Claim", "-q", "employee=Ann", "amount=300"])?;
    person.exp_string("Refused")?;
    person.send_control('c')?;
    let seen = rest(&mut person)?;
    assert!(!seen.contains("receipt"), "{seen}");
    Ok(())
}
