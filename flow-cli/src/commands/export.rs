//! `cargo flow export`: writes the flows as JSON, to the screen or each to a file of its own.

use std::path::Path;

use crate::args::Export;
use crate::{Error, Flows, Outcome, Screen, target, write};

pub(crate) fn export(options: &Export, screen: &mut Screen<'_>) -> Result<Outcome, Error> {
    let flows = target::flows(&options.source)?
        .named(&options.selection.flows)?
        .cut(options.depth);
    match &options.out {
        Some(folder) => files(&flows, folder, screen)?,
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

fn files(flows: &Flows, folder: &Path, screen: &mut Screen<'_>) -> Result<(), Error> {
    for namespace in flows.shared_namespaces() {
        screen.warning(&format!(
            "several flows have the namespace `{namespace}`; the files of all but the first get a number"
        ));
    }
    write::folder(folder)?;
    for (flow, stem) in flows.as_slice().iter().zip(flows.stems()) {
        let path = folder.join(format!("{stem}.json"));
        write::file(&path, &flow.to_json())?;
        screen.note(&format!("wrote {}", path.display()));
    }
    Ok(())
}
