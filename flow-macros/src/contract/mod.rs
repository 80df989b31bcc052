//! The contract of a node: what `flow!` has to know of it, as tokens that travel from macro to
//! macro.

mod about;
mod tokens;

use proc_macro2::Ident;
use syn::{Generics, LitStr};

pub(crate) use about::{About, Question, documentation};
pub(crate) use tokens::{actions_tokens, list};

/// What a node reads, writes and decides.
#[derive(Debug, Clone)]
pub(crate) struct Contract {
    pub(crate) kind: Kind,
    /// Its step is handed a `Visit`: it has attempts, a timeout or a `Context`.
    pub(crate) visit: bool,
    /// It can fail.
    pub(crate) fallible: bool,
    /// It makes attempts, so that a policy can be given to it.
    pub(crate) attempts: bool,
    /// It asks again and again, until a deadline.
    pub(crate) poll: bool,
    /// It takes something by value and has no `retry` of its own, so that there can be one attempt
    /// only.
    pub(crate) once: bool,
    /// It makes one attempt, without a timeout, unless a flow asks for more.
    pub(crate) single: bool,
    /// It has mistakes, which are reported where it is: a flow that uses it says nothing more.
    pub(crate) broken: bool,
    pub(crate) reads: Vec<ReadPort>,
    /// Written whatever action it takes.
    pub(crate) writes: Vec<WritePort>,
    /// Declared actions. A node without any takes `"default"`.
    pub(crate) actions: Vec<ActionPort>,
    /// What only the flow's JSON tells.
    pub(crate) about: About,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A function. It needs no value.
    Function,
    /// A type with `exec`.
    Type,
    /// A flow.
    Flow,
    /// A type whose values come from people.
    Human,
}

#[derive(Debug, Clone)]
pub(crate) struct ReadPort {
    pub(crate) name: Ident,
    pub(crate) mode: Mode,
    /// The type as written, without reference and `Option`.
    pub(crate) rust_type: String,
}

/// How a parameter is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// `&T`
    Borrow,
    /// `T`
    Take,
    /// `Option<&T>`
    MaybeBorrow,
    /// `Option<&str>` and the like: the store holds something that derefs to it.
    MaybeDeref,
    /// `Option<T>`
    MaybeTake,
}

impl Mode {
    pub(crate) fn optional(self) -> bool {
        matches!(self, Mode::MaybeBorrow | Mode::MaybeDeref | Mode::MaybeTake)
    }

    pub(crate) fn takes(self) -> bool {
        matches!(self, Mode::Take | Mode::MaybeTake)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct WritePort {
    pub(crate) name: Ident,
    /// Which `Writes<INDEX>` says its type.
    pub(crate) index: usize,
    /// It may be left unwritten.
    pub(crate) optional: bool,
    /// The type as written.
    pub(crate) rust_type: String,
}

#[derive(Debug, Clone)]
pub(crate) struct ActionPort {
    pub(crate) name: LitStr,
    /// The variant of the enum.
    pub(crate) variant: Ident,
    pub(crate) writes: Vec<WritePort>,
}

impl Contract {
    /// The contract of a node that reads and writes nothing: a fork, a wait.
    pub(crate) fn empty() -> Self {
        Contract {
            kind: Kind::Function,
            visit: false,
            fallible: false,
            attempts: false,
            poll: false,
            once: false,
            single: false,
            broken: false,
            reads: Vec::new(),
            writes: Vec::new(),
            actions: Vec::new(),
            about: About::default(),
        }
    }

    /// Of a node with mistakes.
    pub(crate) fn broken() -> Self {
        Contract {
            broken: true,
            ..Contract::empty()
        }
    }

    /// Of a loop over the items of `over`: its results are written under its name.
    pub(crate) fn of_each(
        name: &Ident,
        over: &Ident,
        body: &Contract,
        collects_errors: bool,
    ) -> Self {
        let writes = match body.returns_nothing() && !collects_errors {
            true => Vec::new(),
            false => vec![WritePort {
                name: name.clone(),
                index: 0,
                optional: false,
                rust_type: String::new(),
            }],
        };
        Contract {
            reads: vec![ReadPort::borrowed(over)],
            writes,
            ..Contract::empty()
        }
    }

    /// The same with `_` for these type parameters: what they stand for is known where the node is
    /// used, not here.
    pub(crate) fn without_parameters(mut self, generics: &Generics) -> Self {
        let parameters: Vec<&Ident> = generics.type_params().map(|one| &one.ident).collect();
        let writes = self.writes.iter_mut().map(|port| &mut port.rust_type);
        let reads = self.reads.iter_mut().map(|port| &mut port.rust_type);
        for rust_type in writes.chain(reads) {
            *rust_type = without(rust_type, &parameters);
        }
        self
    }

    /// Whether there is nothing to collect of it.
    pub(crate) fn returns_nothing(&self) -> bool {
        let actions = if self.kind == Kind::Flow { 1 } else { 0 };
        self.writes.is_empty() && self.actions.len() <= actions
    }
}

/// A type with `_` for each of these names.
pub(crate) fn without(rust_type: &str, names: &[&Ident]) -> String {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut text = String::new();
    let mut rest = rust_type;
    while let Some(start) = rest.find(is_letter) {
        let length = rest[start..].find(|letter| !is_letter(letter));
        let end = length.map_or(rest.len(), |length| start + length);
        let word = &rest[start..end];
        text.push_str(&rest[..start]);
        text.push_str(match names.iter().any(|name| *name == word) {
            true => "_",
            false => word,
        });
        rest = &rest[end..];
    }
    text + rest
}

impl ReadPort {
    /// A read by reference, of whatever the key holds.
    pub(crate) fn borrowed(name: &Ident) -> Self {
        ReadPort {
            name: name.clone(),
            mode: Mode::Borrow,
            rust_type: String::new(),
        }
    }
}
