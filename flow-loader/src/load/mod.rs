//! Loads a flow: reads a document, checks it against the registry and with the analysis of `flow!`,
//! and builds the flow. Nothing is built if anything is wrong.

mod attempts;
mod branches;
mod build;
mod check;
mod collections;
mod complete;
mod conditions;
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
use crate::condition::Conditions;
use flow_text::{Document, Format};

use crate::loaded::LoadedFlow;
use crate::registry::Registry;

use branches::{names_key_at, part};
use room::Room;

/// Loads a flow from a document, with the nodes and flows of a registry.
///
/// A document lists the nodes and how they are wired. The registry knows what a node reads, writes
/// and decides; if the document says it as well, it has to be the same. A flow that the document
/// names becomes part of it.
///
/// # Errors
///
/// Everything that is wrong with the document, at once, each with its line and column: mistakes
/// that `flow!` would report, with the same sentences; nodes that are not registered; `params` from
/// which a node cannot be made; values of types that do not fit. Mistakes in a flow that the
/// document names are reported where it is named.
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

/// Loads a flow from a document that a program has put together, like [`load`].
///
/// # Errors
///
/// See [`load`]; the places are JSON pointers.
pub fn load_document(
    document: &FlowDocument,
    registry: &Registry,
) -> Result<LoadedFlow, Vec<Problem>> {
    Loader::load(document, registry)
}

/// Mistakes of a node that can follow from a lack of knowledge about it.
const OF_NODE: [Code; 3] = [Code::UnknownAction, Code::UnroutedAction, Code::CannotFail];

/// Mistakes of a flow that can follow from a node whose reads are unknown.
const OF_READS: [Code; 2] = [Code::NamesNothing, Code::UnusedInput];

/// Mistakes of a flow that can follow from a node whose writes are unknown.
const OF_WRITES: [Code; 2] = [Code::UnassignedRead, Code::UnwrittenOutput];

/// Everything that is wrong with a text that cannot be loaded.
#[derive(Debug)]
pub struct LoadError {
    problems: Vec<flow_text::Problem>,
}

impl LoadError {
    /// Returns all problems.
    pub fn problems(&self) -> &[flow_text::Problem] {
        &self.problems
    }
}

/// Formats one problem after the other, each with its place, its notes and its help.
impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problems = self.problems.iter();
        let lines: Vec<String> = problems.map(flow_text::Problem::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl Error for LoadError {}

/// The state of loading a document.
struct Loader<'r> {
    registry: &'r Registry,
    /// The registered node of each node, by its pointer.
    adapters: HashMap<String, Arc<Adapter>>,
    /// The names of the nodes that name flows of the registry, by their pointers.
    named: HashMap<String, String>,
    /// The room left for named flows. `None` if it did not suffice.
    room: Option<Room>,
    /// The size in bytes of all texts with credentials and variables so far.
    resolved_bytes: usize,
    conditions: Conditions,
    /// The pointers of the nodes whose reads, writes and decisions are unknown.
    unknown: HashSet<String>,
    /// The pointers of the nodes whose reads are unknown.
    misread: HashSet<String>,
    problems: Problems,
    /// The messages and notes of the problems in named flows.
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
            conditions: Conditions::default(),
            unknown: HashSet::new(),
            misread: HashSet::new(),
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
        for problem in known_defaults::check(&document) {
            if !loader.follows(&document, &problem) {
                let problem = loader.at_its_name(&document, problem);
                loader.report(problem);
            }
        }
        if !loader.problems.is_empty() {
            loader.check_settings(&document, "", &document.namespace);
            loader.check_conditions(&document, "");
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

    /// Returns `true` for a mistake that follows from a node about which too little is known. That
    /// node is reported itself.
    fn follows(&self, document: &FlowDocument, problem: &Problem) -> bool {
        let code = &problem.code;
        let part = part(document, &problem.pointer);
        let pointer = |node: usize| format!("{}/nodes/{node}", part.flow_pointer);
        let is_in = |nodes: &HashSet<String>| {
            let mut all = 0..part.flow.nodes.len();
            !nodes.is_empty() && all.any(|node| nodes.contains(&pointer(node)))
        };
        let is_unknown = part
            .node
            .is_some_and(|node| self.unknown.contains(&pointer(node)));
        (OF_NODE.contains(code) && is_unknown)
            || (OF_READS.contains(code) && (is_in(&self.misread) || is_in(&self.unknown)))
            || (OF_WRITES.contains(code) && is_in(&self.unknown))
    }

    /// Moves a mistake in a value that a node of the language reads to the place where it is named.
    fn at_its_name(&mut self, document: &FlowDocument, mut problem: Problem) -> Problem {
        let part = part(document, &problem.pointer);
        let key = part.inside.strip_prefix("/inputs/properties/");
        if let (Some(node), Some(key)) = (part.node, key) {
            let key = key.replace("~1", "/").replace("~0", "~");
            let place = names_key_at(&part.flow.nodes[node], &key, &mut self.conditions);
            if let Some(place) = place {
                problem.pointer = format!("{}/nodes/{node}{place}", part.flow_pointer);
            }
        }
        problem
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

    /// Returns the problems as an error, if there are any.
    fn refuse(&mut self) -> Result<(), Vec<Problem>> {
        let problems = std::mem::take(&mut self.problems);
        if problems.is_empty() {
            return Ok(());
        }
        Err(problems.into_vec())
    }
}
