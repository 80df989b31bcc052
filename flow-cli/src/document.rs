//! Files of flow documents: one flow, or a list of flows, as JSON or YAML.

use std::path::Path;

use flow_spec::FlowDocument;
use flow_text::{Document, Format};

use crate::Error;

/// Returns the format of a file of flow documents, by its name, or else by the beginning of JSON.
/// `None` for other files.
pub(crate) fn format(path: &Path, bytes: &[u8]) -> Option<Format> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let begins = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let by_beginning = matches!(begins, Some(b'{' | b'[')).then_some(Format::Json);
    Format::of_name(path).or(by_beginning)
}

/// Reads the flows of a file.
///
/// # Errors
///
/// The text is not a flow or a list of flows.
pub(crate) fn read(path: &Path, bytes: &[u8], format: Format) -> Result<Vec<Document>, Error> {
    flow_text::read_all(bytes, format).map_err(|problems| Error::NotAFlow {
        path: path.to_owned(),
        record: None,
        problems: problems.iter().map(ToString::to_string).collect(),
    })
}

/// Formats a flow.
pub(crate) fn text(flow: &FlowDocument, format: Format) -> String {
    match format {
        Format::Json => flow.to_json(),
        Format::Yaml => flow_text::to_yaml(flow),
    }
}

/// Formats a list of flows.
pub(crate) fn text_of_list<'a>(
    flows: impl IntoIterator<Item = &'a FlowDocument>,
    format: Format,
) -> String {
    let items = flows.into_iter().map(|flow| match format {
        Format::Json => indented(&text(flow, format), "  ", "  "),
        Format::Yaml => indented(&text(flow, format), "- ", "  ") + "\n",
    });
    let items: Vec<String> = items.collect();
    match format {
        Format::Json => format!("[\n{}\n]\n", items.join(",\n")),
        Format::Yaml => items.concat(),
    }
}

/// Indents the lines of a text by `other`, and the first one by `first`.
fn indented(text: &str, first: &str, other: &str) -> String {
    let lines = text.lines().enumerate();
    let lines = lines.map(|(index, line)| match (index, line) {
        (0, line) => format!("{first}{line}"),
        (_, "") => String::new(),
        (_, line) => format!("{other}{line}"),
    });
    lines.collect::<Vec<_>>().join("\n")
}
