//! `cargo flow render`: draws flows on the screen or to files.

use clap::ValueEnum as _;
use flow_render::{self as picture, Direction};
use flow_spec::{FlowDocument, NodeDocument};

use super::heading;
use crate::args::{Format, Render};
use crate::write::{self, Destination};
use crate::{Error, Outcome, Screen, Text, target};

pub(crate) fn render(options: &Render, screen: &mut Screen<'_>) -> Result<Outcome, Error> {
    let destination = options.out.as_deref().map(Destination::of);
    let format = match options.format {
        Some(format) => format,
        None => Format::for_destination(destination.as_ref())?,
    };
    if options.direction.is_some() && !format.is_picture() {
        return Err(Error::Usage {
            message: format!("{} has no direction", format.name()),
            help: "add `--format svg`, `html`, `mermaid` or `dot`, or leave `--direction` out"
                .to_owned(),
        });
    }
    let direction = options.direction.map(Into::into).unwrap_or_default();
    let drawn = |flow: &FlowDocument| drawn(flow, format, direction);
    let flows = target::flows(&options.source)?.named(&options.selection.flows)?;
    if let Some(destination) = destination {
        let paths = destination.paths(&flows, format.ending(), screen)?;
        for (path, flow) in paths.iter().zip(flows.as_slice()) {
            write::file(path, &drawn(flow))?;
            screen.note(&format!("wrote {}", path.display()));
        }
        return Ok(Outcome::Fine);
    }
    match format {
        Format::Text => screen.show(&texts(&outermost(flows.as_slice()), format, drawn))?,
        Format::Tree => {
            let flows: Vec<&FlowDocument> = flows.as_slice().iter().collect();
            screen.show(&texts(&flows, format, drawn))?;
        }
        _ if flows.as_slice().len() > 1 && !format.shows_several() => {
            return Err(Error::SeveralFlows {
                format: format.name(),
                flows: flows.titles(),
            });
        }
        _ => {
            let drawn = flows.as_slice().iter().map(drawn);
            screen.data(&drawn.collect::<Vec<_>>().join("\n"))?;
        }
    }
    Ok(Outcome::Fine)
}

/// Returns the flows that none of the others shows inside it.
fn outermost(flows: &[FlowDocument]) -> Vec<&FlowDocument> {
    let is_within = |flow: &FlowDocument, other: &FlowDocument| {
        let inner = |node: &NodeDocument| {
            let inner = node.internal_flow.as_deref();
            inner.is_some_and(|inner| is_same(inner, flow))
        };
        other.flatten_nodes().iter().any(|at| inner(at.node))
    };
    let is_outermost = |flow: &&FlowDocument| !flows.iter().any(|other| is_within(flow, other));
    flows.iter().filter(is_outermost).collect()
}

/// Returns `true` if a flow in a node is this flow. Its namespace differs, and the values of its
/// settings may.
fn is_same(inner: &FlowDocument, flow: &FlowDocument) -> bool {
    let ids = |flow: &FlowDocument| -> Vec<String> {
        flow.nodes.iter().map(|node| node.id.clone()).collect()
    };
    (
        &inner.name,
        &inner.inputs,
        &inner.outputs,
        &inner.edges,
        &inner.ends,
    ) == (
        &flow.name,
        &flow.inputs,
        &flow.outputs,
        &flow.edges,
        &flow.ends,
    ) && ids(inner) == ids(flow)
}

/// Formats the flows below each other. Several trees get titles, because a tree does not contain
/// the name of its flow.
fn texts(flows: &[&FlowDocument], format: Format, drawn: impl Fn(&FlowDocument) -> String) -> Text {
    let mut text = Text::default();
    for (index, flow) in flows.iter().enumerate() {
        if index > 0 {
            text.end_line();
        }
        if flows.len() > 1 && format == Format::Tree {
            text.append(&heading(flow));
        }
        for line in drawn(flow).lines() {
            text.push(line).end_line();
        }
    }
    text
}

fn drawn(flow: &FlowDocument, format: Format, direction: Direction) -> String {
    let mut text = match format {
        Format::Text => picture::text(flow),
        Format::Tree => picture::tree(flow),
        Format::Mermaid => picture::mermaid_in(flow, direction),
        Format::Dot => picture::dot_in(flow, direction),
        Format::Svg => picture::svg_in(flow, direction),
        Format::Html => picture::html_in(flow, direction),
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

impl Format {
    /// Returns the default format for a destination.
    fn for_destination(destination: Option<&Destination<'_>>) -> Result<Self, Error> {
        let path = match destination {
            None => return Ok(Format::Text),
            Some(Destination::Folder(_)) => return Ok(Format::Html),
            Some(Destination::File(path)) => path,
        };
        let ending = path.extension().unwrap_or_default();
        let all = Format::value_variants().iter();
        let found = all.copied().find(|format| ending == format.ending());
        found.ok_or_else(|| Error::Usage {
            message: format!("`{}` does not say in which format to draw", path.display()),
            help: format!(
                "end it in `.svg`, `.html`, `.mmd`, `.dot` or `.txt`, add `--format`, or name a folder: `{}/`",
                path.display()
            ),
        })
    }

    /// Returns `true` if readers of this format accept several pictures, one after the other.
    fn shows_several(self) -> bool {
        matches!(self, Format::Text | Format::Tree | Format::Dot)
    }

    fn is_picture(self) -> bool {
        !matches!(self, Format::Text | Format::Tree)
    }

    fn ending(self) -> &'static str {
        match self {
            Format::Text | Format::Tree => "txt",
            Format::Mermaid => "mmd",
            Format::Dot => "dot",
            Format::Svg => "svg",
            Format::Html => "html",
        }
    }

    fn name(self) -> String {
        match self {
            Format::Text => "a text",
            Format::Tree => "a tree",
            Format::Mermaid => "a Mermaid diagram",
            Format::Dot => "a graph",
            Format::Svg => "an SVG picture",
            Format::Html => "an HTML page",
        }
        .to_owned()
    }
}
