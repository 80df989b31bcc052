//! Writes a document as YAML that people would write.

use flow_spec::{FlowDocument, deceptive};
use serde_json::{Map, Value};

use super::scalar;

/// The maximum length of a name in characters. YAML requires a mark before a longer one.
const LONGEST_NAME: usize = 1024;

/// The flow as YAML: one line for each value, and quotes only where a reader of YAML 1.1 or 1.2
/// would otherwise not see a string. The same document always gives the same text, and reading the
/// text gives the same document.
///
/// # Examples
///
/// ```
/// use flow_spec::FlowDocument;
/// use flow_text::{Format, read, to_yaml};
///
/// let flow = FlowDocument::parse(r#"{
///   "version": "2.0.0",
///   "nodes": [{ "type": "answer", "id": "answer", "params": { "tone": "yes" } }],
///   "edges": []
/// }"#).unwrap();
/// let text = to_yaml(&flow);
/// assert_eq!(text, "\
/// version: 2.0.0
/// nodes:
///   - type: answer
///     id: answer
///     params:
///       tone: \"yes\"
/// edges: []
/// ");
/// assert_eq!(read(text.as_bytes(), Format::Yaml).unwrap().flow(), &flow);
/// ```
pub fn to_yaml(flow: &FlowDocument) -> String {
    let value = serde_json::to_value(flow)
        .unwrap_or_else(|error| unreachable!("a document consists of JSON values: {error}"));
    let mut text = String::new();
    match &value {
        Value::Object(map) => object(&mut text, map, 0),
        value => unreachable!("a document is an object, and not {value}"),
    }
    text
}

/// Writes the fields of a non-empty object. The first line is already indented.
fn object(text: &mut String, map: &Map<String, Value>, indent: usize) {
    for (index, (name, value)) in map.iter().enumerate() {
        if index > 0 {
            push_indent(text, indent);
        }
        let name = one_line(name);
        if name.chars().count() > LONGEST_NAME {
            text.push_str("? ");
            text.push_str(&name);
            text.push('\n');
            push_indent(text, indent);
        } else {
            text.push_str(&name);
        }
        text.push(':');
        match value {
            Value::Object(map) if !map.is_empty() => {
                text.push('\n');
                push_indent(text, indent + 2);
                object(text, map, indent + 2);
            }
            Value::Array(items) if !items.is_empty() => {
                text.push('\n');
                push_indent(text, indent + 2);
                list(text, items, indent + 2);
            }
            value => {
                text.push(' ');
                scalar(text, value, indent + 2);
            }
        }
    }
}

/// Writes the items of a non-empty list. The first line is already indented.
fn list(text: &mut String, items: &[Value], indent: usize) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            push_indent(text, indent);
        }
        text.push_str("- ");
        match item {
            Value::Object(map) if !map.is_empty() => object(text, map, indent + 2),
            Value::Array(items) if !items.is_empty() => list(text, items, indent + 2),
            item => scalar(text, item, indent + 2),
        }
    }
}

/// Writes a value without inner values, and ends its line.
fn scalar(text: &mut String, value: &Value, indent: usize) {
    match value {
        Value::String(string) => match block(string) {
            Some(mark) => {
                text.push_str(mark);
                for line in string.trim_end_matches('\n').split('\n') {
                    text.push('\n');
                    if !line.is_empty() {
                        push_indent(text, indent);
                        text.push_str(line);
                    }
                }
            }
            None => text.push_str(&one_line(string)),
        },
        value => text.push_str(&value.to_string()),
    }
    text.push('\n');
}

/// The mark of a text that is written line by line. `None` if it cannot be, or is a single line.
fn block(text: &str) -> Option<&'static str> {
    let content = text.strip_suffix('\n').unwrap_or(text);
    let is_line = |line: &str| {
        deceptive(line).all(is_printed) && !line.starts_with([' ', '\t']) && !line.ends_with(' ')
    };
    let begins_and_ends = !content.starts_with('\n') && !content.ends_with('\n');
    let is_block = content.contains('\n') && begins_and_ends && content.split('\n').all(is_line);
    is_block.then_some(if content.len() < text.len() {
        "|"
    } else {
        "|-"
    })
}

/// A string on one line, without quotes if it is a string without them.
fn one_line(text: &str) -> String {
    if is_plain(text) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

/// Returns true if a string can be written without quotes, also for readers of YAML 1.1.
fn is_plain(text: &str) -> bool {
    let is_string = matches!(scalar::value(text), Ok(Value::String(_)));
    let lower = text.to_ascii_lowercase();
    let is_old_flag = matches!(lower.as_str(), "y" | "n" | "yes" | "no" | "on" | "off");
    let begins = text.starts_with(|letter: char| {
        letter.is_ascii_alphanumeric() || matches!(letter, '_' | '(') || !letter.is_ascii()
    });
    let looks_like_number = text.starts_with(|letter: char| letter.is_ascii_digit())
        && !text.contains(|letter: char| letter.is_ascii_alphabetic());
    let has_mark = text.contains(": ") || text.contains(" #") || text.ends_with([':', ' ']);
    is_string
        && begins
        && !is_old_flag
        && (!looks_like_number || is_version(text))
        && !has_mark
        && deceptive(text).all(is_printed)
}

/// Returns true for `2.0.0`, a string for every reader, unlike `1_000` or `12:30`.
fn is_version(text: &str) -> bool {
    let parts = text.split('.');
    parts.clone().count() > 2 && parts.clone().all(|part| part.parse::<u32>().is_ok())
}

/// Returns true for characters that YAML allows outside of quotes and that do not deceive.
fn is_printed((letter, deceives): (char, bool)) -> bool {
    !deceives && !matches!(letter, '\u{fffe}' | '\u{ffff}')
}

/// A string in double quotes.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for (letter, deceives) in deceptive(text) {
        match (letter, u32::from(letter)) {
            ('"' | '\\', _) => quoted.extend(['\\', letter]),
            ('\n', _) => quoted.push_str("\\n"),
            ('\r', _) => quoted.push_str("\\r"),
            ('\t', _) => quoted.push_str("\\t"),
            _ if is_printed((letter, deceives)) => quoted.push(letter),
            (_, code @ ..=0xffff) => quoted.push_str(&format!("\\u{code:04x}")),
            (_, code) => quoted.push_str(&format!("\\U{code:08x}")),
        }
    }
    quoted.push('"');
    quoted
}

fn push_indent(text: &mut String, indent: usize) {
    text.extend(std::iter::repeat_n(' ', indent));
}
