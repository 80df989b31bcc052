//! Loading: reads a document, checks it against the registry and with the analysis of `flow!`, and
//! builds the flow. Nothing is built if anything is wrong.

mod attempts;
mod build;
mod check;
mod collections;
mod complete;
mod human;
mod imported;
pub(crate) mod known;
mod known_defaults;
mod only;
mod params;
mod ports;
mod receiver;
mod resolve;
mod results;
mod room;
mod settings;
mod types;
mod uses;

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use flow_spec::document::Problems;
use flow_spec::{Code, FlowDocument, Problem};

use crate::adapter::Adapter;
use flow_text::{Document, Format};

use crate::loaded::LoadedFlow;
use crate::registry::Registry;

use room::Room;

/// Loads a flow from a document, with the nodes and flows of a registry.
///
/// A document says which nodes there are and how they are wired. What a node reads, writes and
/// decides is known from the registry; if the document says it as well, it has to be the same. A
/// flow that the document names becomes part of it.
///
/// # Errors
///
/// Everything that is wrong with the document, at once, each with its line and column: what `flow!`
/// would report, with the same sentences; nodes that are not registered; `params` that a node cannot
/// be made from; values of types that do not fit. What is wrong with a flow that the document names
/// is reported where it is named.
///
/// # Examples
///
/// ```
/// use flow_loader::{Format, load, registry};
/// use flow_runtime::prelude::*;
/// use serde_json::json;
///
/// #[node]
/// fn greet(name: &str) -> String {
///     format!("Hello, {name}!")
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let document = "
/// version: 2.0.0
/// name: Greeting
/// namespace: greeting
/// inputs: { type: object, properties: { name: {} }, required: [name] }
/// outputs: { type: object, properties: { greet: {} }, required: [greet] }
/// nodes:
///   - { type: greet, id: greet }
/// edges: []
/// ends:
///   - { from: greet, condition: default, label: default }
/// ";
/// let greeting = load(document, Format::Yaml, &registry![greet]).unwrap();
/// let output = greeting.run(json!({ "name": "Ann" })).await.unwrap();
/// assert_eq!(output, json!({ "greet": "Hello, Ann!", "end": "default" }));
///
/// let misspelt = document.replace("type: greet", "type: great");
/// let error = load(misspelt, Format::Yaml, &registry![greet]).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "8:13: no node `great` is registered [F004]\nat /nodes/0/type\nhelp: did you mean `greet`?",
/// );
/// # }
/// ```
pub fn load(
    text: impl AsRef<[u8]>,
    format: Format,
    registry: &Registry,
) -> Result<LoadedFlow, LoadError> {
    let read = flow_text::read(text.as_ref(), format);
    let loaded = read.and_then(|document| load_read(&document, registry));
    loaded.map_err(|problems| LoadError { problems })
}

/// Loads a flow from a document that was read from text.
pub(crate) fn load_read(
    document: &Document,
    registry: &Registry,
) -> Result<LoadedFlow, Vec<flow_text::Problem>> {
    let locate = |problem| document.locate(problem);
    let flow = imported::settled(document, registry);
    match Loader::load(&flow, registry) {
        Ok(loaded) => Ok(loaded.with_left_out(document.left_out())),
        Err(problems) => Err(problems.into_iter().map(locate).collect()),
    }
}

/// Loads a flow from a document that a program has put together: as [`load`].
///
/// # Errors
///
/// As [`load`], with JSON pointers as places.
pub fn load_document(
    document: &FlowDocument,
    registry: &Registry,
) -> Result<LoadedFlow, Vec<Problem>> {
    Loader::load(document, registry)
}

/// Mistakes that can follow from a node that is not known.
const FOLLOWERS: [Code; 7] = [
    Code::UnknownAction,
    Code::UnroutedAction,
    Code::UnassignedRead,
    Code::UnwrittenOutput,
    Code::CannotFail,
    Code::NamesNothing,
    Code::UnusedInput,
];

/// Why a text cannot be loaded: everything that is wrong with it.
#[derive(Debug)]
pub struct LoadError {
    problems: Vec<flow_text::Problem>,
}

impl LoadError {
    /// All problems.
    pub fn problems(&self) -> &[flow_text::Problem] {
        &self.problems
    }
}

/// One problem after the other, each with its place, its notes and its help.
impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problems = self.problems.iter();
        let lines: Vec<String> = problems.map(flow_text::Problem::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl Error for LoadError {}

/// A document on its way to a flow.
struct Loader<'r> {
    registry: &'r Registry,
    /// The registered node of each node, by its pointer.
    adapters: HashMap<String, Arc<Adapter>>,
    /// The names of the nodes that name flows of the registry, by their pointers.
    named: HashMap<String, String>,
    /// The room for what is named. `None` if it did not suffice.
    room: Option<Room>,
    /// The bytes of the texts with credentials and variables so far.
    resolved_bytes: usize,
    problems: Problems,
    /// The messages and notes of the problems in flows that are named.
    reported: HashSet<(String, Vec<String>)>,
}

impl<'r> Loader<'r> {
    fn new(registry: &'r Registry) -> Self {
        Loader {
            registry,
            adapters: HashMap::new(),
            named: HashMap::new(),
            room: Some(Room::default()),
            resolved_bytes: 0,
            problems: Problems::default(),
            reported: HashSet::new(),
        }
    }

    fn load(written: &FlowDocument, registry: &'r Registry) -> Result<LoadedFlow, Vec<Problem>> {
        let mut loader = Loader::new(registry);
        let mut completed = loader.resolve(written);
        loader.refuse()?;
        loader.count(&completed, "");
        loader.refuse()?;
        loader.complete(&mut completed, "");
        let mut document = completed.clone();
        document.fill_namespaces();
        let unknown = !loader.problems.is_empty();
        // What an unknown node reads and writes is not known, so that would be reported again.
        let follows = |problem: &Problem| unknown && FOLLOWERS.contains(&problem.code);
        let found = known_defaults::check(&document).into_iter();
        for problem in found.filter(|problem| !follows(problem)) {
            loader.report(problem);
        }
        if !loader.problems.is_empty() {
            loader.check_settings(&document, "", &document.namespace);
        }
        loader.refuse()?;
        let level = loader.build(&document, "", &document.namespace);
        loader.refuse()?;
        match level {
            Some(level) => Ok(LoadedFlow::new(completed, Arc::new(level))),
            None => unreachable!(
                "what cannot be built is a problem: {}",
                written.to_compact_json()
            ),
        }
    }

    fn problem(&mut self, code: Code, pointer: String, message: String, help: Option<String>) {
        self.report(Problem {
            pointer,
            is_name: false,
            code,
            message,
            notes: Vec::new(),
            related: Vec::new(),
            help,
        });
    }

    /// Returns what is wrong, if anything is.
    fn refuse(&mut self) -> Result<(), Vec<Problem>> {
        let problems = std::mem::take(&mut self.problems);
        if problems.is_empty() {
            return Ok(());
        }
        Err(problems.into_vec())
    }
}
