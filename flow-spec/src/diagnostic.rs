//! What the analysis has to say, and the place in the graph it speaks of.

use std::fmt;

use crate::graph::{EdgePart, NodeId};
use crate::visible::visible;

/// The kind of mistake, with a stable code: `docs/errors.md` explains each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Code {
    /// `F001`: an edge for an action that the node does not have.
    UnknownAction,
    /// `F002`: an action that no edge routes.
    UnroutedAction,
    /// `F003`: a second edge for the same action.
    DuplicateEdge,
    /// `F004`: a name that is not a node.
    UnknownNode,
    /// `F005`: a node that `start` does not lead to.
    Unreachable,
    /// `F006`: a node from which no path leads to an `end`.
    NoEnd,
    /// `F007`: a read that some path does not write.
    UnassignedRead,
    /// `F008`: a read of another type than the writer's. In Rust code rustc says it (E0308).
    TypeMismatch,
    /// `F009`: two writers of one key with different types.
    WriterTypes,
    /// `F010`: branches of a fork that write the same key, or of which one reads what another
    /// writes.
    ForkConflict,
    /// `F011`: an output that some `end` leaves unwritten.
    UnwrittenOutput,
    /// `F012`: a value taken by one node and read by a later one, of a type that is not `Clone`.
    TakenTooEarly,
    /// `F013`: `retry`, a fallback or `"error"` on a node that cannot fail.
    CannotFail,
    /// `F014`: a flow that contains itself.
    Recursion,
    /// `F015`: a mapping, output or setting that names nothing.
    NamesNothing,
    /// `F016`: a malformed or zero duration or count, or a malformed prompt.
    Malformed,
    /// `F017`: a name that is reserved or already taken.
    Name,
    /// `F018`: no `start`, or a second one.
    Start,
    /// `F019`: an input that nothing reads.
    UnusedInput,
    /// `F020`: an action that leaves a fork, or a fork without a join.
    ForkShape,
    /// `F021`: two ports mapped to one key.
    MappingClash,
    /// `F022`: a human node that is not declared as one, or something else that is.
    Human,
    /// `F023`: a flow JSON that does not have the shape of one.
    Document,
}

impl Code {
    /// Every code, in order.
    pub const ALL: [Code; 23] = [
        Code::UnknownAction,
        Code::UnroutedAction,
        Code::DuplicateEdge,
        Code::UnknownNode,
        Code::Unreachable,
        Code::NoEnd,
        Code::UnassignedRead,
        Code::TypeMismatch,
        Code::WriterTypes,
        Code::ForkConflict,
        Code::UnwrittenOutput,
        Code::TakenTooEarly,
        Code::CannotFail,
        Code::Recursion,
        Code::NamesNothing,
        Code::Malformed,
        Code::Name,
        Code::Start,
        Code::UnusedInput,
        Code::ForkShape,
        Code::MappingClash,
        Code::Human,
        Code::Document,
    ];
}

/// The code as it is printed: `F007`.
impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "F{:03}", *self as usize + 1)
    }
}

/// A place in a [`Graph`](crate::Graph), which each front end can map to where its user wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Site {
    /// The flow as a whole: its name.
    Flow,
    /// An input, by its index.
    Input(usize),
    /// An output, by its index.
    Output(usize),
    /// A node where it is declared or, if it is not, where it is first mentioned.
    Node(NodeId),
    /// A part of an edge, by the edge's index.
    Edge(usize, EdgePart),
}

/// One mistake, in the words of the language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What kind of mistake it is.
    pub code: Code,
    /// Where it is.
    pub site: Site,
    /// What is wrong: one sentence without a full stop.
    pub message: String,
    /// Facts that show it, such as a path; each a line of its own.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
    /// Other places that matter, each with what is there.
    pub related: Vec<(Site, String)>,
}

/// How many notes a mistake has at most.
pub(crate) const MOST_NOTES: usize = 20;

/// How many bytes each text of a mistake has at most: it quotes names, which can be of any length.
const LONGEST: usize = 2000;

/// Leaves out the end of a text that is too long.
pub(crate) fn shorten(text: &mut String) {
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.shrink_to_fit();
        text.push('…');
    }
}

impl Diagnostic {
    /// A diagnostic with a message only.
    pub fn new(code: Code, site: Site, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            site,
            message: message.into(),
            notes: Vec::new(),
            help: None,
            related: Vec::new(),
        }
    }

    /// Adds a fact that shows the mistake.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Cuts its texts and lists to their limits.
    pub(crate) fn shortened(mut self) -> Self {
        shorten(&mut self.message);
        self.notes.truncate(MOST_NOTES);
        self.notes.iter_mut().for_each(shorten);
        self.help.iter_mut().for_each(shorten);
        self.related.truncate(MOST_NOTES);
        let related = self.related.iter_mut();
        related.for_each(|(_, what)| shorten(what));
        self
    }

    /// Adds another place that matters.
    #[must_use]
    pub fn related(mut self, site: Site, what: impl Into<String>) -> Self {
        self.related.push((site, what.into()));
        self
    }
}

/// The text of the diagnostic, one line for the message and one for each note and the help. What is
/// quoted is [`visible`].
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", visible(&self.message), self.code)?;
        for note in &self.notes {
            write!(f, "\n{}", visible(note))?;
        }
        if let Some(help) = &self.help {
            write!(f, "\nhelp: {}", visible(help))?;
        }
        Ok(())
    }
}
