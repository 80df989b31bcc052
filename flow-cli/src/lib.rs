#![doc = include_str!("../README.md")]
//!
//! # Implementation
//!
//! The program `cargo-flow` only calls [`run`]. A command turns its arguments (`args`) into flows
//! (`target`, which reads binaries with [`section`]) or source files (`sources`), and writes to the
//! screen or to files.

mod args;
mod cargo;
mod commands;
mod difference;
mod document;
mod error;
mod flows;
mod read;
mod screen;
pub mod section;
mod sources;
mod style;
mod table;
mod target;
mod text;
mod write;

use std::ffi::OsString;
use std::io;

use anstream::{AutoStream, ColorChoice};
use clap::{CommandFactory, FromArgMatches};
use flow_spec::visible;

use args::{Cli, Color, Command};

use error::Error;
use flows::Flows;
use screen::{Outcome, Screen};
use text::Text;

/// Runs the command given by these words, the first of them the program, and returns the exit code.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = words.into_iter().collect();
    let cli = match parse(&words) {
        Ok(cli) => cli,
        Err(error) => {
            // The message quotes words, which may be names of files.
            let error = parse(&visible_words(&words)).err().unwrap_or(error);
            // If this fails, nobody reads the output.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let choice = match cli.color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    };
    let mut data = AutoStream::new(io::stdout(), choice).lock();
    let mut words = AutoStream::new(io::stderr(), choice).lock();
    let mut screen = Screen::new(&mut data, &mut words);
    let result = execute(&cli, &mut screen);
    screen.finish(result)
}

/// Parses the words. Cargo calls `cargo-flow flow list` for `cargo flow list`, so the word `flow`
/// is optional.
fn parse(words: &[OsString]) -> Result<Cli, clap::Error> {
    let words = words.iter().enumerate();
    let words = words.filter(|(index, word)| *index != 1 || *word != "flow");
    let matches = Cli::command().try_get_matches_from(words.map(|(_, word)| word))?;
    Cli::from_arg_matches(&matches)
}

/// Makes the words visible for a message that quotes them.
fn visible_words(words: &[OsString]) -> Vec<OsString> {
    let visible = |word: &OsString| visible(&word.to_string_lossy()).into_owned().into();
    words.iter().map(visible).collect()
}

fn execute(cli: &Cli, screen: &mut Screen<'_>) -> Result<Outcome, Error> {
    match &cli.command {
        Command::New(new) => commands::new(new, screen),
        Command::List(list) => commands::list(list, screen),
        Command::Export(export) => commands::export(export, screen),
        Command::Render(render) => commands::render(render, screen),
        Command::Check(check) => commands::check(check, screen),
        Command::Diff(diff) => commands::diff(diff, screen),
        Command::Source(source) => commands::source(source, screen),
        Command::Fmt(fmt) => commands::fmt(fmt, screen),
        #[cfg(feature = "executions")]
        Command::Executions(executions) => commands::executions(executions),
        Command::Completions(completions) => commands::completions(completions, screen),
    }
}
