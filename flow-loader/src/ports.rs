//! The values that a node reads and writes, by the keys of its flow.

use crate::adder::Adder;
use crate::value::ValueType;

/// A key of a flow's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct KeyIndex(pub(crate) usize);

/// A node, by its position in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct NodeIndex(pub(crate) usize);

/// The values that a node reads and writes.
pub(crate) struct Ports {
    /// The node.
    pub(crate) at: NodeIndex,
    pub(crate) reads: Vec<Read>,
    /// The key of each value that it writes. `None` if nothing reads it.
    pub(crate) writes: Vec<Option<Write>>,
    /// The type of the returned value, if the node is a function or a type.
    pub(crate) outcome: Option<&'static ValueType>,
    /// True if it is a flow that is retried as a whole and therefore needs its values again.
    pub(crate) repeats: bool,
}

/// A key that a node writes.
#[derive(Clone, Copy)]
pub(crate) struct Write {
    pub(crate) key: KeyIndex,
    /// `None` if the value replaces that of the key.
    pub(crate) addition: Option<Addition>,
}

/// An addition to the value of a key.
#[derive(Clone, Copy)]
pub(crate) struct Addition {
    pub(crate) adder: Adder,
    /// The type of the key.
    pub(crate) to: &'static ValueType,
    /// The type of what is added.
    pub(crate) more: &'static ValueType,
    pub(crate) in_branch: InBranch,
}

/// The way in which a branch of a fork adds to a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InBranch {
    /// To the flow's value when all branches are done.
    AtJoin,
    /// The same, and a later node of the branch sees it before.
    Seen,
    /// To the branch's own value, which replaces the flow's.
    ToOwn,
}

pub(crate) struct Read {
    /// The name of the key, which may be that of the item of a loop.
    pub(crate) name: String,
    /// `None` if nothing writes it.
    pub(crate) key: Option<KeyIndex>,
    /// The type of the key, if there is one.
    pub(crate) ty: Option<&'static ValueType>,
    pub(crate) mode: Mode,
    /// True if it takes the value out of the state, because nothing reads it afterwards.
    pub(crate) moves: bool,
}

/// The read for which a value was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TakenBy {
    pub(crate) node: NodeIndex,
    pub(crate) read: usize,
}

/// The way a value is passed to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// `&T`
    Borrow,
    /// `T`
    Take,
    /// `Option<&T>`
    MaybeBorrow,
    /// `Option<T>`
    MaybeTake,
    /// It is shown in a prompt.
    Show,
}

impl Mode {
    pub(crate) fn takes(self) -> bool {
        matches!(self, Mode::Take | Mode::MaybeTake)
    }

    pub(crate) fn optional(self) -> bool {
        matches!(self, Mode::MaybeBorrow | Mode::MaybeTake)
    }
}
