//! `cargo flow render`: pictures of flows, on the screen or in files.

use std::path::{Path, PathBuf};

use flow_render as picture;
use flow_spec::FlowDocument;

use super::heading;
use crate::args::{Format, Render};
use crate::{Error, Flows, Outcome, Screen, Text, target, write};

pub(crate) fn render(options: &Render, screen: &mut Screen<'_>) -> Result<Outcome, Error> {
    let flows = target::flows(&options.source)?.named(&options.selection.flows)?;
    let format = options.format;
    match &options.out {
        Some(out) => {
            for (path, flow) in paths(&flows, out, format)?.iter().zip(flows.as_slice()) {
                write::file(path, &drawn(flow, format))?;
                screen.note(&format!("wrote {}", path.display()));
            }
        }
        None if flows.as_slice().len() > 1 && !format.shows_several() => {
            return Err(Error::SeveralFlows {
                format: format.name(),
                flows: flows.titles(),
            });
        }
        None if format == Format::Tree => screen.show(&trees(flows.as_slice()))?,
        None => {
            let drawn = flows.as_slice().iter().map(|flow| drawn(flow, format));
            screen.data(&drawn.collect::<Vec<_>>().join("\n"))?;
        }
    }
    Ok(Outcome::Fine)
}

/// The file of each flow: the requested file, or one for each flow in the requested folder.
fn paths(flows: &Flows, out: &Path, format: Format) -> Result<Vec<PathBuf>, Error> {
    let names_folder = out.as_os_str().as_encoded_bytes().ends_with(b"/");
    if flows.as_slice().len() == 1 && !out.is_dir() && !names_folder {
        return Ok(vec![out.to_owned()]);
    }
    write::folder(out)?;
    let ending = format.ending();
    let stems = flows.stems().into_iter();
    Ok(stems
        .map(|stem| out.join(format!("{stem}.{ending}")))
        .collect())
}

/// The trees, each under the name of its flow if there are several, because a tree does not contain
/// the name.
fn trees(flows: &[FlowDocument]) -> Text {
    let mut text = Text::default();
    for (index, flow) in flows.iter().enumerate() {
        if index > 0 {
            text.end_line();
        }
        if flows.len() > 1 {
            text.append(&heading(flow));
        }
        for line in drawn(flow, Format::Tree).lines() {
            text.push(line).end_line();
        }
    }
    text
}

fn drawn(flow: &FlowDocument, format: Format) -> String {
    let mut text = match format {
        Format::Tree => picture::tree(flow),
        Format::Mermaid => picture::mermaid(flow),
        Format::Dot => picture::dot(flow),
        Format::Svg => picture::svg(flow),
        Format::Html => picture::html(flow),
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

impl Format {
    /// Returns true if programs that read this format accept several pictures, one after the other.
    fn shows_several(self) -> bool {
        matches!(self, Format::Tree | Format::Dot)
    }

    fn ending(self) -> &'static str {
        match self {
            Format::Tree => "txt",
            Format::Mermaid => "mmd",
            Format::Dot => "dot",
            Format::Svg => "svg",
            Format::Html => "html",
        }
    }

    fn name(self) -> String {
        match self {
            Format::Tree => "a tree",
            Format::Mermaid => "a Mermaid diagram",
            Format::Dot => "a graph",
            Format::Svg => "an SVG picture",
            Format::Html => "an HTML page",
        }
        .to_owned()
    }
}
