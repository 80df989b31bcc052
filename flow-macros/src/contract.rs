//! The contract of a node: what `flow!` has to know of it, as tokens that travel from macro to macro.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{LitInt, LitStr, Token, braced, bracketed};

use crate::flow::BranchSyntax;

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
    /// It takes something by value and has no `retry` of its own, so that there can be one attempt only.
    pub(crate) once: bool,
    /// It has mistakes, which are reported where it is: a flow that uses it says nothing more.
    pub(crate) broken: bool,
    pub(crate) reads: Vec<ReadPort>,
    /// Written whatever action it takes.
    pub(crate) writes: Vec<WritePort>,
    /// Declared actions. A node without any takes `"default"`.
    pub(crate) actions: Vec<ActionPort>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A function. It needs no value.
    Function,
    /// A type with `exec`.
    Type,
    /// A flow.
    Flow,
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

/// The action of a node that was not answered in time.
pub(crate) const TIMEOUT_ACTION: &str = "timeout";

impl Contract {
    /// Of what reads and writes nothing by itself: a fork, a wait.
    pub(crate) fn empty() -> Self {
        Contract {
            kind: Kind::Function,
            visit: false,
            fallible: false,
            attempts: false,
            poll: false,
            once: false,
            broken: false,
            reads: Vec::new(),
            writes: Vec::new(),
            actions: Vec::new(),
        }
    }

    /// Of a node with mistakes.
    pub(crate) fn broken() -> Self {
        Contract {
            broken: true,
            ..Contract::empty()
        }
    }

    /// Of conditions over keys, which are read by reference; those of `optional` may be missing.
    pub(crate) fn of_branch(branch: &BranchSyntax, optional: &[&Ident]) -> Self {
        let labels = branch
            .cases
            .iter()
            .map(|(_, label)| label)
            .chain(&branch.otherwise);
        let mut actions: Vec<ActionPort> = Vec::new();
        for label in labels {
            if actions
                .iter()
                .all(|action| action.name.value() != label.value())
            {
                let variant = branch.name.clone();
                actions.push(ActionPort {
                    name: label.clone(),
                    variant,
                    writes: Vec::new(),
                });
            }
        }
        let read = |name: &Ident| match optional.contains(&name) {
            true => ReadPort {
                mode: Mode::MaybeBorrow,
                ..ReadPort::borrowed(name)
            },
            false => ReadPort::borrowed(name),
        };
        let reads = branch.reads.iter().map(read).collect();
        Contract {
            reads,
            actions,
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

    /// Whether there is nothing to collect of it.
    pub(crate) fn returns_nothing(&self) -> bool {
        let actions = if self.kind == Kind::Flow { 1 } else { 0 };
        self.writes.is_empty() && self.actions.len() <= actions
    }
}

impl ReadPort {
    fn borrowed(name: &Ident) -> Self {
        ReadPort {
            name: name.clone(),
            mode: Mode::Borrow,
            rust_type: String::new(),
        }
    }
}

const KINDS: [(Kind, &str); 3] = [
    (Kind::Function, "function"),
    (Kind::Type, "type_"),
    (Kind::Flow, "flow"),
];

const MODES: [(Mode, &str); 5] = [
    (Mode::Borrow, "borrow"),
    (Mode::Take, "take"),
    (Mode::MaybeBorrow, "maybe_borrow"),
    (Mode::MaybeDeref, "maybe_deref"),
    (Mode::MaybeTake, "maybe_take"),
];

fn word<T: Copy + PartialEq>(table: &[(T, &str)], value: T) -> Ident {
    let word = table
        .iter()
        .find(|(candidate, _)| *candidate == value)
        .map_or("unknown", |(_, word)| word);
    Ident::new(word, Span::call_site())
}

fn value<T: Copy>(table: &[(T, &str)], word: &Ident) -> syn::Result<T> {
    let found = table.iter().find(|(_, candidate)| word == candidate);
    found
        .map(|(value, _)| *value)
        .ok_or_else(|| syn::Error::new(word.span(), "malformed contract"))
}

impl Mode {
    pub(crate) fn optional(self) -> bool {
        matches!(self, Mode::MaybeBorrow | Mode::MaybeDeref | Mode::MaybeTake)
    }

    pub(crate) fn takes(self) -> bool {
        matches!(self, Mode::Take | Mode::MaybeTake)
    }
}

impl ToTokens for Contract {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Contract { reads, writes, .. } = self;
        let kind = word(&KINDS, self.kind);
        let flags = [
            (self.visit, "visit"),
            (self.fallible, "fallible"),
            (self.attempts, "attempts"),
            (self.once, "once"),
            (self.broken, "broken"),
            (self.poll, "poll"),
        ]
        .into_iter()
        .filter(|(set, _)| *set)
        .map(|(_, flag)| Ident::new(flag, Span::call_site()));
        let actions = actions_tokens(&self.actions);
        tokens.extend(quote!({ #kind [#(#flags)*] {#(#reads)*} {#(#writes)*} #actions }));
    }
}

/// The actions of a contract, which the macro of an enum supplies.
pub(crate) fn actions_tokens(actions: &[ActionPort]) -> TokenStream {
    quote!({#(#actions)*})
}

impl ToTokens for ReadPort {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let ReadPort {
            name, rust_type, ..
        } = self;
        let mode = word(&MODES, self.mode);
        tokens.extend(quote!(#mode #name #rust_type,));
    }
}

impl ToTokens for WritePort {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let WritePort {
            name,
            index,
            optional,
            rust_type,
        } = self;
        tokens.extend(quote!(#name #index #optional #rust_type,));
    }
}

impl ToTokens for ActionPort {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let ActionPort {
            name,
            variant,
            writes,
        } = self;
        tokens.extend(quote!(#name #variant {#(#writes)*}));
    }
}

impl Parse for Contract {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let content;
        braced!(content in input);
        let input = &content;
        let kind = value(&KINDS, &input.parse()?)?;
        let flags;
        bracketed!(flags in input);
        let mut set = Vec::new();
        while !flags.is_empty() {
            set.push(flags.parse::<Ident>()?.to_string());
        }
        let has = |flag: &str| set.iter().any(|name| name == flag);
        Ok(Contract {
            kind,
            visit: has("visit"),
            fallible: has("fallible"),
            attempts: has("attempts"),
            once: has("once"),
            broken: has("broken"),
            poll: has("poll"),
            reads: list(input)?,
            writes: list(input)?,
            actions: list(input)?,
        })
    }
}

/// `{ item item … }`
pub(crate) fn list<T: Parse>(input: ParseStream<'_>) -> syn::Result<Vec<T>> {
    let content;
    braced!(content in input);
    let mut items = Vec::new();
    while !content.is_empty() {
        items.push(content.parse()?);
    }
    Ok(items)
}

impl Parse for ReadPort {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mode = value(&MODES, &input.parse()?)?;
        let port = ReadPort {
            mode,
            name: input.parse()?,
            rust_type: input.parse::<LitStr>()?.value(),
        };
        input.parse::<Token![,]>()?;
        Ok(port)
    }
}

impl Parse for WritePort {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let port = WritePort {
            name: input.parse()?,
            index: input.parse::<LitInt>()?.base10_parse()?,
            optional: input.parse::<syn::LitBool>()?.value,
            rust_type: input.parse::<LitStr>()?.value(),
        };
        input.parse::<Token![,]>()?;
        Ok(port)
    }
}

impl Parse for ActionPort {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(ActionPort {
            name: input.parse()?,
            variant: input.parse()?,
            writes: list(input)?,
        })
    }
}
