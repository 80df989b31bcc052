//! `cargo flow completions`: prints the completions for a shell.

use clap::CommandFactory;

use crate::args::{Cli, Completions};
use crate::{Error, Outcome, Screen};

pub(crate) fn completions(
    options: &Completions,
    screen: &mut Screen<'_>,
) -> Result<Outcome, Error> {
    let mut command = Cli::command().bin_name("cargo-flow");
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut command, "cargo-flow", &mut script);
    screen.data(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Fine)
}
