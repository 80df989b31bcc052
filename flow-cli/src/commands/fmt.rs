//! `cargo flow fmt`: lays out the `flow!` in source files, and flows in JSON or YAML.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use flow_render::layout::{Fault, lay_out};
use flow_text::{Document, Format, Lost, Notation};

use crate::args::{Build, Fmt};
use crate::difference::push_difference;
use crate::style::BOLD;
use crate::{Error, Outcome, Screen, Text, document, read, sources, write};

pub(crate) fn fmt(options: &Fmt, screen: &mut Screen<'_>) -> Result<Outcome, Error> {
    let mut worst = Outcome::Fine;
    for path in paths(options)? {
        let outcome = if path.as_os_str() == "-" {
            standard_input(options.check, screen)
        } else {
            file(&path, options.check, screen)
        };
        worst = worst.max(outcome.unwrap_or_else(|error| {
            screen.error(&error);
            Outcome::Failed
        }));
    }
    Ok(worst)
}

fn paths(options: &Fmt) -> Result<Vec<PathBuf>, Error> {
    if !options.paths.is_empty() {
        return sources::in_paths(&options.paths);
    }
    sources::of_packages(&Build {
        package: options.package.clone(),
        workspace: options.workspace,
        manifest_path: options.manifest_path.clone(),
        ..Build::default()
    })
}

fn file(path: &Path, check: bool, screen: &mut Screen<'_>) -> Result<Outcome, Error> {
    let text = read::text(path)?;
    let (outcome, formatted) = match Format::of_name(path) {
        Some(format) => (Outcome::Fine, documents(path, &text, format)?),
        None => {
            let laid_out = lay_out(&text);
            let outcome = report(&path.display().to_string(), &text, &laid_out.faults, screen);
            (outcome, laid_out.text)
        }
    };
    if formatted == text {
        return Ok(outcome);
    }
    if check {
        return Ok(outcome.max(show_difference(path, &text, &formatted, screen)?));
    }
    write::file(path, &formatted)?;
    screen.note(&format!("formatted {}", path.display()));
    Ok(outcome)
}

/// Formats the flows of a file like `cargo flow export` does.
fn documents(path: &Path, text: &str, format: Format) -> Result<String, Error> {
    let documents = document::read(path, text.as_bytes(), format)?;
    let foreign = documents
        .iter()
        .find(|document| document.notation() != Notation::Flow);
    if let Some(foreign) = foreign {
        return Err(Error::Layout {
            place: format!("{}:{}", path.display(), foreign.place("")),
            message: "this is a workflow of another tool, and would become a flow document: `cargo flow export` writes one"
                .to_owned(),
        });
    }
    if let Some((place, lost)) = documents.first().and_then(Document::lost) {
        return Err(Error::Layout {
            place: format!("{}:{place}", path.display()),
            message: match lost {
                Lost::Comment => "this comment would be lost",
                Lost::Anchor => "this anchor would be lost",
            }
            .to_owned(),
        });
    }
    Ok(match &documents[..] {
        [document] if document.pointer().is_empty() => document::text(document.flow(), format),
        documents => document::text_of_list(documents.iter().map(Document::flow), format),
    })
}

fn standard_input(check: bool, screen: &mut Screen<'_>) -> Result<Outcome, Error> {
    let path = Path::new("standard input");
    let mut bytes = Vec::new();
    let failed = |source| Error::Read {
        path: path.to_owned(),
        source,
    };
    io::stdin().read_to_end(&mut bytes).map_err(failed)?;
    let text = read::utf8(path, bytes)?;
    let laid_out = lay_out(&text);
    let outcome = report("standard input", &text, &laid_out.faults, screen);
    if !check {
        screen.verbatim(&laid_out.text)?;
    } else if laid_out.text != text {
        return Ok(outcome.max(show_difference(path, &text, &laid_out.text, screen)?));
    }
    Ok(outcome)
}

/// Prints why parts of the file cannot be formatted.
fn report(place: &str, text: &str, faults: &[Fault], screen: &mut Screen<'_>) -> Outcome {
    for fault in faults {
        let (line, column) = line_and_column(text, fault.at);
        screen.error(&Error::Layout {
            place: format!("{place}:{line}:{column}"),
            message: fault.message.clone(),
        });
    }
    match faults {
        [] => Outcome::Fine,
        _ => Outcome::Failed,
    }
}

/// Returns the line and the column, counted from 1 as in the compiler.
fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let line = before.rsplit('\n').next().unwrap_or(before);
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

fn show_difference(
    path: &Path,
    old: &str,
    new: &str,
    screen: &mut Screen<'_>,
) -> Result<Outcome, Error> {
    let mut text = Text::default();
    text.push_styled(BOLD, path.display())
        .push(" is not formatted")
        .end_line();
    push_difference(
        &mut text,
        &old.replace("\r\n", "\n"),
        &new.replace("\r\n", "\n"),
    );
    screen.show(&text)?;
    Ok(Outcome::Found)
}
