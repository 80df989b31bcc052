//! `cargo flow source`: prints flows as equivalent `flow!` source.

use std::path::Path;

use flow_spec::FlowDocument;
use flow_text::{Document, Format};

use super::check::push_problem;
use crate::args::Source;
use crate::{Error, Flows, Outcome, Screen, Text, document, read, target};

pub(crate) fn source(options: &Source, screen: &mut Screen<'_>) -> Result<Outcome, Error> {
    let names = &options.selection.flows;
    if let Some(path) = &options.source.file {
        let bytes = read::bytes(path)?;
        if let Some(format) = document::format(path, &bytes) {
            return of_documents(path, &bytes, format, names, screen);
        }
    }
    let flows = target::flows(&options.source)?.named(names)?;
    let unsaid = |flow: &FlowDocument| {
        let unsaid = flow_render::source(flow).err().unwrap_or_default();
        let unsaid = unsaid.into_iter();
        unsaid
            .map(|one| format!("{}: {one}", flow.title()))
            .collect()
    };
    let problems: Vec<Vec<String>> = flows.as_slice().iter().map(unsaid).collect();
    print(flows.as_slice(), problems.concat(), screen)
}

/// Returns the flows of a file of documents, if they are sound.
fn of_documents(
    path: &Path,
    bytes: &[u8],
    format: Format,
    names: &[String],
    screen: &mut Screen<'_>,
) -> Result<Outcome, Error> {
    let documents = document::read(path, bytes, format)?;
    let flows = documents.iter().map(|document| document.flow().clone());
    let flows = Flows::new(flows).named(names)?;
    let problems = flow_text::check_all(&documents);
    if !problems.is_empty() {
        let mut text = Text::default();
        for problem in problems {
            push_problem(&mut text, path, problem);
        }
        screen.show(&text)?;
        return Ok(Outcome::Found);
    }
    let unsaid = |document: &Document| {
        let unsaid = flow_render::source(document.flow())
            .err()
            .unwrap_or_default();
        let unsaid = unsaid.into_iter().map(|one| {
            let place = document.place(&one.pointer);
            format!(
                "{}:{place}: {}\nat {}",
                path.display(),
                one.message,
                document.pointer_in_text(&one.pointer)
            )
        });
        unsaid.collect()
    };
    let named = documents
        .iter()
        .filter(|document| flows.as_slice().contains(document.flow()));
    let problems: Vec<Vec<String>> = named.map(unsaid).collect();
    print(flows.as_slice(), problems.concat(), screen)
}

/// Prints the flows, unless `flow!` cannot express a part of them.
fn print(
    flows: &[FlowDocument],
    mut problems: Vec<String>,
    screen: &mut Screen<'_>,
) -> Result<Outcome, Error> {
    let text = match flow_render::sources(flows) {
        Ok(text) if problems.is_empty() => text,
        Ok(_) => return Err(Error::Unsaid { problems }),
        Err(unsaid) => {
            if problems.is_empty() {
                problems = unsaid.iter().map(ToString::to_string).collect();
            }
            return Err(Error::Unsaid { problems });
        }
    };
    screen.data(&text)?;
    Ok(Outcome::Fine)
}
