//! `cargo flow export`: writes the flows as JSON, to the screen or each to a file of its own.

use crate::args::Export;
use crate::write::{self, Destination};
use crate::{Error, Flows, Outcome, Screen, target};

pub(crate) fn export(options: &Export, screen: &mut Screen<'_>) -> Result<Outcome, Error> {
    let flows = target::flows(&options.source)?
        .named(&options.selection.flows)?
        .cut(options.depth);
    match &options.out {
        Some(out) => {
            let paths = Destination::of(out).paths(&flows, "json", screen)?;
            for (path, flow) in paths.iter().zip(flows.as_slice()) {
                write::file(path, &flow.to_json())?;
                screen.note(&format!("wrote {}", path.display()));
            }
        }
        None => screen.data(&together(&flows))?,
    }
    Ok(Outcome::Fine)
}

/// A single document as it is, and several documents as a list.
fn together(flows: &Flows) -> String {
    if let [flow] = flows.as_slice() {
        return flow.to_json();
    }
    let documents = flows.as_slice().iter().map(|flow| {
        let json = flow.to_json();
        let lines = json.lines().map(|line| format!("  {line}"));
        lines.collect::<Vec<_>>().join("\n")
    });
    format!("[\n{}\n]\n", documents.collect::<Vec<_>>().join(",\n"))
}
