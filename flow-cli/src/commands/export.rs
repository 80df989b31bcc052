//! `cargo flow export`: writes the flows as JSON or YAML, to the screen or to separate files.

use flow_text::Format;

use crate::args::Export;
use crate::write::{self, Destination};
use crate::{Error, Outcome, Screen, document, target};

pub(crate) fn export(options: &Export, screen: &mut Screen<'_>) -> Result<Outcome, Error> {
    let flows = target::flows(&options.source)?
        .named(&options.selection.flows)?
        .cut(options.depth);
    let destination = options.out.as_deref().map(Destination::of);
    let of_file = match destination {
        Some(Destination::File(path)) => Format::of_name(path),
        _ => None,
    };
    let format = options.format.map(Format::from).or(of_file);
    let format = format.unwrap_or(Format::Json);
    match destination {
        Some(destination) => {
            let paths = destination.paths(&flows, format.ending(), screen)?;
            for (path, flow) in paths.iter().zip(flows.as_slice()) {
                write::file(path, &document::text(flow, format))?;
                screen.note(&format!("wrote {}", path.display()));
            }
        }
        None => match flows.as_slice() {
            [flow] => screen.data(&document::text(flow, format))?,
            flows => screen.data(&document::text_of_list(flows, format))?,
        },
    }
    if let Some(path) = &options.source.file {
        for note in super::check::imported_in(path)? {
            screen.note(&note);
        }
    }
    Ok(Outcome::Fine)
}
