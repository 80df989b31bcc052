//! The input of a run: from a file, and from the command line.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use flow_runtime::engine::{AnyFlow, RefusedInput, Saved, parse_json};
use flow_spec::{FlowDocument, did_you_mean};
use serde_json::{Map, Value};

use crate::output::pair;

/// The maximum size of an input in bytes.
const LARGEST: u64 = 32 << 20;

/// The arguments for the input of a flow: `--input x.json` and `key=value`.
#[derive(Debug, Args)]
pub struct InputArguments {
    /// Values of the input, which take precedence over those in the file.
    #[arg(value_name = "KEY=VALUE", value_parser = pair)]
    values: Vec<(String, String)>,
    /// A JSON file with the input, an object; `-` is the standard input.
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
}

impl InputArguments {
    /// Reads the input.
    ///
    /// # Errors
    ///
    /// The input cannot be read, is not an object, or has a value on the command line that the flow
    /// does not take.
    pub fn read<E>(&self, flow: &(impl AnyFlow<E> + ?Sized)) -> Result<Map<String, Value>, String> {
        let mut input = match &self.input {
            Some(path) => object(path)?,
            None => Map::new(),
        };
        let mut texts = BTreeMap::new();
        for (key, text) in &self.values {
            known(key, flow)?;
            if texts.insert(key.clone(), text.clone()).is_some() {
                return Err(format!("`{key}` is given twice"));
            }
            let value = value(text).map_err(|error| format!("`{key}`: {error}"))?;
            input.insert(key.clone(), value);
        }
        Ok(fitted(input, texts, flow))
    }
}

/// Parses JSON, or takes the text if it is not JSON or has a number with too many digits.
fn value(text: &str) -> Result<Value, serde_json::Error> {
    match (serde_json::from_str(text), parse_json(text.as_bytes())) {
        (Ok(Value::Object(_) | Value::Array(_)), read) => read,
        (_, read) => Ok(read.unwrap_or_else(|_| text.into())),
    }
}

/// Reads a JSON object.
fn object(path: &Path) -> Result<Map<String, Value>, String> {
    let (shown, read) = if path == Path::new("-") {
        ("the standard input".to_owned(), text(io::stdin()))
    } else {
        (path.display().to_string(), File::open(path).and_then(text))
    };
    let text = read.map_err(|error| format!("{shown}: {error}"))?;
    match parse_json(text.as_bytes()) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(format!("{shown}: the input is not a JSON object")),
        Err(error) => Err(format!("{shown}: {error}")),
    }
}

fn text(from: impl Read) -> io::Result<String> {
    let mut text = String::new();
    let read = from.take(LARGEST + 1).read_to_string(&mut text)?;
    if u64::try_from(read).is_ok_and(|read| read <= LARGEST) {
        return Ok(text);
    }
    let most = format!("the input has more than {} MiB", LARGEST >> 20);
    Err(io::Error::new(io::ErrorKind::FileTooLarge, most))
}

/// Refuses a key that is not an input of the flow.
fn known<E>(key: &str, flow: &(impl AnyFlow<E> + ?Sized)) -> Result<(), String> {
    let Ok(document) = FlowDocument::parse_spec(flow.structure()) else {
        // A custom flow may not declare its inputs.
        return Ok(());
    };
    let inputs = document.inputs.properties;
    if inputs.contains_key(key) {
        return Ok(());
    }
    let name = flow.name();
    let help = did_you_mean(key, inputs.keys().map(String::as_str));
    let help = help.map(|help| format!("\nhelp: {help}"));
    let help = help.unwrap_or_default();
    Err(format!("`{name}` has no input `{key}`{help}"))
}

/// Returns the input, with the text of each command-line value that is JSON but does not fit: for
/// instance `5` as a name.
fn fitted<E>(
    mut input: Map<String, Value>,
    mut texts: BTreeMap<String, String>,
    flow: &(impl AnyFlow<E> + ?Sized),
) -> Map<String, Value> {
    if let Err(RefusedInput::Input(error)) = flow.stored_input(Saved(input.clone())) {
        for violation in error.violations() {
            if let Some(text) = texts.remove(violation.key()) {
                input.insert(violation.key().to_owned(), text.into());
            }
        }
    }
    input
}
