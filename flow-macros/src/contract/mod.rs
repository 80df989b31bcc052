//! The contract of a node: the facts that `flow!` needs about it, as tokens that travel from macro
//! to macro.

mod about;
mod tokens;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{Generics, LitStr};

#[cfg(feature = "registry")]
pub(crate) use about::settings_text;
pub(crate) use about::{About, External, Shown};
pub(crate) use tokens::{actions_tokens, list};

/// The reads, writes and actions of a node.
#[derive(Debug, Clone)]
pub(crate) struct Contract {
    pub(crate) kind: Kind,
    pub(crate) attempts: Attempts,
    pub(crate) failure: Failure,
    /// True if it makes one attempt, without a timeout, unless a flow asks for more.
    pub(crate) single: bool,
    /// True if it runs in a transaction of the run's database.
    pub(crate) transaction: bool,
    /// True if the target of a flow's timeout never awaits, so that nothing could end it. The
    /// target is an attempt, or the whole of a node without attempts.
    pub(crate) never_awaits: bool,
    /// True if it awaits outside of that: in another method, or in a pause between two attempts.
    pub(crate) awaits_besides: bool,
    /// True if it has mistakes, which are reported at the node: a flow that uses it reports no
    /// others.
    pub(crate) broken: bool,
    pub(crate) reads: Vec<ReadPort>,
    /// Values that it writes with every action. A flow's optional outputs are among the writes of
    /// its actions.
    pub(crate) writes: Vec<WritePort>,
    /// Declared actions. A node without any takes `"default"`. The actions of a flow are its ends.
    pub(crate) actions: Vec<ActionPort>,
    /// The part that is only for the flow's JSON.
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
    /// A type whose values are sent from outside.
    Signal,
}

impl Kind {
    /// Returns true if the values of the type come from outside.
    pub(crate) fn is_external(self) -> bool {
        matches!(self, Kind::Human | Kind::Signal)
    }
}

/// The number of attempts of a node, which decides if its step gets a `Visit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempts {
    /// No attempts and no visit: it just runs.
    None,
    /// No attempts, but a visit: it asks for its `Context`, polls, or can fail outside `exec`.
    Visit,
    /// One attempt: it takes something by value and has no `retry` of its own.
    One,
    /// As many as its own policy or the flow's allows.
    Many,
}

impl Attempts {
    pub(crate) fn has_visit(self) -> bool {
        self != Attempts::None
    }

    /// Returns true if a flow can give it a policy.
    pub(crate) fn takes_policy(self) -> bool {
        matches!(self, Attempts::One | Attempts::Many)
    }
}

/// The possible failures of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    Never,
    /// It can fail with an error.
    Possible,
    /// It fails only if no answer arrives in time, and a flow can route `"timeout"` instead: a
    /// question, or a poll without errors of its own, with a deadline.
    Timeout,
    /// It can fail with an error, or because no answer arrives in time.
    OrTimeout,
}

impl Failure {
    pub(crate) fn possible_if(can_fail: bool) -> Self {
        if can_fail {
            Failure::Possible
        } else {
            Failure::Never
        }
    }

    /// Adds the failure of an attempt that takes longer than a flow allows.
    pub(crate) fn within_timeout(self) -> Self {
        match self {
            Failure::Never | Failure::Possible => Failure::Possible,
            Failure::Timeout | Failure::OrTimeout => Failure::OrTimeout,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct ReadPort {
    pub(crate) name: Ident,
    pub(crate) mode: Mode,
    /// The type as written, without the reference and the `Option`.
    pub(crate) rust_type: String,
    /// Its doc comment.
    pub(crate) description: Option<String>,
}

/// The mode in which a parameter is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// `&T`
    Borrow,
    /// `T`
    Take,
    /// `Option<&T>`
    MaybeBorrow,
    /// `Option<&str>` and the like: the state holds a value that dereferences to it.
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
    /// The `INDEX` of the `Writes` that gives its type, unless the contract
    /// [`writes_its_outcome`](Contract::writes_its_outcome).
    pub(crate) index: usize,
    /// True if it may be left unwritten.
    pub(crate) optional: bool,
    /// True if it is added to the key's value.
    pub(crate) adds: bool,
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
            attempts: Attempts::None,
            failure: Failure::Never,
            single: false,
            transaction: false,
            never_awaits: false,
            awaits_besides: false,
            broken: false,
            reads: Vec::new(),
            writes: Vec::new(),
            actions: Vec::new(),
            about: About::default(),
        }
    }

    /// The contract of a node with mistakes.
    pub(crate) fn broken() -> Self {
        Contract {
            broken: true,
            ..Contract::empty()
        }
    }

    /// Returns true for a node with mistakes about which nothing else is known.
    pub(crate) fn says_nothing(&self) -> bool {
        self.broken && self.writes.is_empty() && self.actions.is_empty()
    }

    /// The contract of a loop over the items of `over`: its results are written under its name, or
    /// added to the key to which its body `adds`. That it adds to several is reported.
    pub(crate) fn of_each(
        name: &Ident,
        over: &Ident,
        body: &Contract,
        adds: &[Ident],
        collects_errors: bool,
    ) -> Self {
        let port = |name: &Ident, adds| WritePort {
            name: name.clone(),
            index: 0,
            optional: false,
            adds,
            rust_type: String::new(),
        };
        let writes = match adds {
            _ if body.returns_nothing() && !collects_errors => Vec::new(),
            [only] if body.returns_one_value() => vec![port(only, true)],
            adds => {
                let added = adds.iter().map(|key| port(key, true));
                added.chain([port(name, false)]).collect()
            }
        };
        Contract {
            reads: vec![ReadPort::borrowed(over)],
            writes,
            ..Contract::empty()
        }
    }

    /// The contract with `_` in place of these type parameters: their types are known where the
    /// node is used, not here.
    pub(crate) fn without_parameters(mut self, generics: &Generics) -> Self {
        let parameters: Vec<&Ident> = generics.type_params().map(|one| &one.ident).collect();
        let writes = self.writes.iter_mut().map(|port| &mut port.rust_type);
        let reads = self.reads.iter_mut().map(|port| &mut port.rust_type);
        for rust_type in writes.chain(reads) {
            *rust_type = without(rust_type, &parameters);
        }
        self
    }

    /// The values that it writes with every action, and those of each action.
    pub(crate) fn all_writes(&self) -> impl Iterator<Item = &WritePort> {
        let of_actions = self.actions.iter().flat_map(|action| &action.writes);
        self.writes.iter().chain(of_actions)
    }

    /// Returns true if it can fail.
    pub(crate) fn fallible(&self) -> bool {
        self.failure != Failure::Never
    }

    /// Returns true if a part of it awaits, so that the timeout of an outer flow can end it.
    pub(crate) fn awaits(&self) -> bool {
        !self.never_awaits || self.awaits_besides
    }

    /// Returns true if it fails when no answer arrives in time.
    pub(crate) fn times_out(&self) -> bool {
        matches!(self.failure, Failure::Timeout | Failure::OrTimeout)
    }

    /// Returns true if its outcome is the value that it writes. Then the type of its only write is
    /// that of its [outcome](Self::outcome_type), and it has no `Writes`.
    pub(crate) fn writes_its_outcome(&self) -> bool {
        self.kind != Kind::Flow && self.writes.len() == 1 && self.actions.is_empty()
    }

    /// The type of the value that an engine returns for it; for a signal, of its parts. `path` is the
    /// type of the node, `traits` the module that has the traits.
    pub(crate) fn outcome_type(
        &self,
        path: &TokenStream,
        traits: &impl ToTokens,
        site: Span,
    ) -> TokenStream {
        match self.kind {
            Kind::Signal => quote_spanned!(site=> <#path as #traits::Signal>::Parts),
            _ => quote_spanned!(site=> <#path as #traits::Step>::Outcome),
        }
    }

    /// Returns true if a loop over items collects the value that it writes.
    pub(crate) fn returns_one_value(&self) -> bool {
        let is_flow_of_one_end =
            matches!(&self.actions[..], [end] if end.writes.is_empty()) && self.writes.len() == 1;
        self.writes_its_outcome() || self.kind == Kind::Flow && is_flow_of_one_end
    }

    /// Returns true if it has no results to collect.
    pub(crate) fn returns_nothing(&self) -> bool {
        match (self.kind, &self.actions[..]) {
            (_, []) => self.writes.is_empty(),
            (Kind::Flow, [end]) => self.writes.is_empty() && end.writes.is_empty(),
            _ => false,
        }
    }

    /// The writes of a flow at any of its ends, each output once, in the order of its signature.
    pub(crate) fn outputs(&self) -> Vec<&WritePort> {
        let of_ends = self.actions.iter().flat_map(|end| &end.writes);
        let mut outputs: Vec<&WritePort> = self.writes.iter().chain(of_ends).collect();
        outputs.sort_by_key(|port| port.index);
        outputs.dedup_by_key(|port| port.index);
        outputs
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
        text.push_str(if names.iter().any(|name| *name == word) {
            "_"
        } else {
            word
        });
        rest = &rest[end..];
    }
    text + rest
}

impl ReadPort {
    /// A read by reference, of any type.
    pub(crate) fn borrowed(name: &Ident) -> Self {
        ReadPort {
            name: name.clone(),
            mode: Mode::Borrow,
            rust_type: String::new(),
            description: None,
        }
    }
}
