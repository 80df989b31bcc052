//! Documents with the places of their values.

use std::sync::Arc;

use flow_spec::FlowDocument;
use flow_spec::document::Problems;
use serde_json::Value;

use crate::advice::in_format;
use crate::content::{Content, Lost, related};
use crate::import::{Imported, Notation, Origins, import};
use crate::problem::{Found, Place, Problem};
use crate::tree::Tree;
use crate::{Format, json, yaml};

/// The maximum size of a text, in bytes. Ten thousand nodes fit.
pub const LARGEST: usize = 32 << 20;

/// A flow that was read from text, with the places of its values.
#[derive(Debug, Clone)]
pub struct Document {
    flow: FlowDocument,
    /// The place of the flow in the text: a JSON pointer, `""` if the flow is the whole text.
    pointer: String,
    notation: Notation,
    /// The places of its parts in the text. `None` if they are where the document has them.
    origins: Option<Arc<Origins>>,
    tree: Arc<Tree>,
    format: Format,
    lost: Option<(Place, Lost)>,
    left_out: Vec<Problem>,
}

/// Reads a flow: a document, or a workflow in another [`Notation`], which becomes a document.
///
/// # Examples
///
/// ```
/// use flow_text::{Format, read};
///
/// let text = "\
/// version: 2.0.0
/// name: Qa # answers questions
/// nodes:
///   - type: answer
///     id: answer
/// edges:
///   - { from: answer, to: anwser, condition: default }
/// ";
/// let problems = read(text.as_bytes(), Format::Yaml).unwrap_err();
/// assert_eq!(problems[0].to_string(), "\
/// 7:25: there is no node `anwser` [F004]
/// at /edges/0/to
/// help: did you mean `answer`?");
///
/// let mended = text.replace("to: anwser", "to: answer");
/// let document = read(mended.as_bytes(), Format::Yaml).unwrap();
/// assert_eq!(document.flow().name, "Qa");
/// // It runs in a circle for ever.
/// assert_eq!(document.check()[0].place.to_string(), "4:5");
/// ```
///
/// # Errors
///
/// All problems of the text and of the document in it. The problems of a document are those of
/// [`FlowDocument::parse`]. In a workflow, likewise, a field is missing, unknown or of the wrong
/// type, or a step is named that does not exist.
pub fn read(bytes: &[u8], format: Format) -> Result<Document, Vec<Problem>> {
    let content = content(bytes, format)?;
    let flow = import(&content.value);
    let mut documents = placed(content, vec![(String::new(), flow)], format)?;
    Ok(documents.remove(0))
}

/// Reads one flow, or a list of flows.
///
/// # Errors
///
/// See [`read`]. The problems of all flows of the list are reported together.
pub fn read_all(bytes: &[u8], format: Format) -> Result<Vec<Document>, Vec<Problem>> {
    let content = content(bytes, format)?;
    let flows = match &content.value {
        Value::Array(items) => {
            let items = items.iter().enumerate();
            let flow = |(index, item)| (format!("/{index}"), import(item));
            items.map(flow).collect()
        }
        value => vec![(String::new(), import(value))],
    };
    placed(content, flows, format)
}

/// The problems that the analysis finds in the flows of a text, with [`Document::check`] for each.
/// If there are more than a hundred, only the first hundred are listed.
pub fn check_all(documents: &[Document]) -> Vec<Problem> {
    let mut found = Found::default();
    for document in documents {
        for problem in document.check() {
            found.push(problem);
        }
        if found.is_full() {
            break;
        }
    }
    found.into_vec()
}

/// The flows with their places, or the problems of all of them.
fn placed(
    content: Content,
    flows: Vec<(String, Result<Imported, Vec<flow_spec::Problem>>)>,
    format: Format,
) -> Result<Vec<Document>, Vec<Problem>> {
    let tree = Arc::new(content.tree);
    let mut documents = Vec::new();
    let mut found = Problems::default();
    for (pointer, flow) in flows {
        match flow {
            Ok(Imported {
                flow,
                notation,
                origins,
                left_out,
            }) => documents.push(Document {
                left_out: left_out
                    .into_iter()
                    .map(|one| locate(&tree, below(&pointer, one)))
                    .collect(),
                flow,
                pointer,
                notation,
                origins: origins.map(Arc::new),
                tree: Arc::clone(&tree),
                format,
                lost: content.lost,
            }),
            Err(problems) => found.extend(problems.into_iter().map(|one| below(&pointer, one))),
        }
        if found.is_full() {
            break;
        }
    }
    let mut all = content.found;
    for problem in found.into_vec() {
        all.push(locate(&tree, in_format(problem, format)));
    }
    if all.is_empty() {
        Ok(documents)
    } else {
        Err(all.into_vec())
    }
}

fn content(bytes: &[u8], format: Format) -> Result<Content, Vec<Problem>> {
    if bytes.len() > LARGEST {
        let message = format!("this has more than {} MiB", LARGEST >> 20);
        return Err(vec![Problem::new(Place::START, "", message)]);
    }
    // Some editors write a byte order mark before the text.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = str::from_utf8(bytes).map_err(|error| {
        let place = Place::of(bytes, error.valid_up_to());
        vec![Problem::new(place, "", "this byte is not UTF-8")]
    })?;
    let content = match format {
        Format::Json => json::read(text),
        Format::Yaml => yaml::read(text),
    };
    content.map_err(|problem| vec![problem])
}

impl Document {
    /// The flow.
    pub fn flow(&self) -> &FlowDocument {
        &self.flow
    }

    /// The JSON pointer of the flow in its text: `""` if it is the whole text, and `/1` if it is
    /// the second one of a list.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// The first thing in the whole text that is lost if its flows are written again, with its
    /// place. `None` if nothing is lost.
    pub fn lost(&self) -> Option<(Place, Lost)> {
        self.lost
    }

    /// The notation in which the flow is written.
    pub fn notation(&self) -> Notation {
        self.notation
    }

    /// The parts of another tool's workflow that its document omits, with their places: limits of
    /// runs, and settings of the tool's engine. The flow is complete without them.
    pub fn left_out(&self) -> &[Problem] {
        &self.left_out
    }

    /// The flow, without the places.
    pub fn into_flow(self) -> FlowDocument {
        self.flow
    }

    /// The problems that the analysis finds in the flow, as with [`FlowDocument::check`].
    pub fn check(&self) -> Vec<Problem> {
        let problems = self.flow.check().into_iter();
        problems.map(|problem| self.locate(problem)).collect()
    }

    /// The place of a value in the text by its JSON pointer in the flow. Without such a value, the
    /// place of the last one on the way to it.
    ///
    /// A list or an object that has a name is at the place of its name.
    pub fn place(&self, pointer: &str) -> Place {
        self.tree.place(&self.pointer_in_text(pointer), false)
    }

    /// The place of the name of a field, like [`place`](Self::place) for its value.
    pub fn place_of_name(&self, pointer: &str) -> Place {
        self.tree.place(&self.pointer_in_text(pointer), true)
    }

    /// Adds the place in the text to a problem of the flow.
    pub fn locate(&self, problem: flow_spec::Problem) -> Problem {
        let problem = match &self.origins {
            Some(origins) => origins.problem(problem),
            None => problem,
        };
        locate(
            &self.tree,
            in_format(below(&self.pointer, problem), self.format),
        )
    }

    /// Translates a JSON pointer in the flow to the one in the text.
    pub fn pointer_in_text(&self, pointer: &str) -> String {
        let pointer = match &self.origins {
            Some(origins) => origins.of(pointer),
            None => pointer,
        };
        format!("{}{pointer}", self.pointer)
    }
}

/// The problem with its pointers relative to the whole text.
fn below(pointer: &str, mut problem: flow_spec::Problem) -> flow_spec::Problem {
    problem.pointer.insert_str(0, pointer);
    for (related, _) in &mut problem.related {
        related.insert_str(0, pointer);
    }
    problem
}

fn locate(tree: &Tree, problem: flow_spec::Problem) -> Problem {
    let others = problem.related.iter();
    let others = others.map(|(pointer, what)| related(what, tree.place(pointer, false)));
    Problem {
        place: tree.place(&problem.pointer, problem.is_name),
        notes: problem.notes.iter().cloned().chain(others).collect(),
        pointer: problem.pointer,
        code: problem.code,
        message: problem.message,
        help: problem.help,
    }
}
