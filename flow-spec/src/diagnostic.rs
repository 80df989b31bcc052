//! The messages of the analysis, and their places in the graph.

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
    /// `F008`: a read with another type than the writer's. In Rust code rustc reports it (E0308).
    TypeMismatch,
    /// `F009`: two writers of one key with different types.
    WriterTypes,
    /// `F010`: branches of a fork that write the same key, or a branch that reads what another one
    /// writes.
    ForkConflict,
    /// `F011`: an output that some `end` leaves unwritten.
    UnwrittenOutput,
    /// `F012`: a value that one node takes and a later one reads, of a type that is not `Clone`.
    TakenTooEarly,
    /// `F013`: `retry`, a fallback or `"error"` on a node that cannot fail.
    CannotFail,
    /// `F014`: a flow that contains itself.
    Recursion,
    /// `F015`: a mapping, output or setting that names something that does not exist.
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
    /// `F022`: a human node or a signal that is not declared as one, or another node that is.
    Human,
    /// `F023`: a flow JSON that does not have the shape of one.
    Document,
    /// `F024`: a value that cannot be added to its key.
    Addition,
    /// `F025`: a node that cannot be undone, or that cannot undo.
    Undo,
}

impl Code {
    /// Returns `true` for mistakes that are found by following values along the edges. A wrong edge
    /// can cause them.
    pub(crate) fn is_about_values(self) -> bool {
        matches!(
            self,
            Code::UnassignedRead | Code::UnwrittenOutput | Code::NamesNothing | Code::UnusedInput
        )
    }

    /// Every code, in order.
    pub const ALL: [Code; 25] = [
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
        Code::Addition,
        Code::Undo,
    ];
}

/// The code as it is printed: `F007`.
impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "F{:03}", *self as usize + 1)
    }
}

/// A place in a [`Graph`](crate::Graph). Each front end maps it to the place in its user's source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Site {
    /// The flow as a whole: its name.
    Flow,
    /// An input, by its index.
    Input(usize),
    /// An output, by its index.
    Output(usize),
    /// A node where it is declared or, if there is no declaration, where it is first mentioned.
    Node(NodeId),
    /// A key that a node reads, by its index in the node's reads: the place where the flow or the
    /// node's prompt names the key, or else that of [`Site::Node`].
    Read(NodeId, usize),
    /// The setting `undo = …` of a node: the name of its undo node.
    Undo(NodeId),
    /// The setting `was = …` of a node: its former name.
    Was(NodeId),
    /// A part of an edge, by the edge's index.
    Edge(usize, EdgePart),
}

/// One mistake, in the words of the language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind of mistake.
    pub code: Code,
    /// The place of the mistake.
    pub site: Site,
    /// The message: one sentence without a full stop.
    pub message: String,
    /// Facts that show the mistake, such as a path, one per line.
    pub notes: Vec<String>,
    /// The help for fixing it.
    pub help: Option<String>,
    /// Other relevant places, each with a text.
    pub related: Vec<(Site, String)>,
}

/// The largest number of notes of a mistake.
pub(crate) const MOST_NOTES: usize = 20;

/// The maximum size in bytes of each text of a mistake. Texts quote names, which can have any
/// length.
const LONGEST: usize = 2000;

/// Cuts off the end of a text that is too long.
pub(crate) fn shorten(text: &mut String) {
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.shrink_to_fit();
        text.push('…');
    }
}

impl Diagnostic {
    /// Creates a diagnostic with only a message.
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

    /// Adds help for fixing the mistake.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Shortens its texts and lists to their limits.
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

    /// Adds another relevant place.
    #[must_use]
    pub fn related(mut self, site: Site, what: impl Into<String>) -> Self {
        self.related.push((site, what.into()));
        self
    }
}

/// Formats the diagnostic: one line for the message, one for each note and one for the help. Quoted
/// text is [`visible`].
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
