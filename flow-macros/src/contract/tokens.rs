//! A contract as tokens: a contract macro contains them, and the next macro reads them.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{LitInt, LitStr, Token, braced, bracketed};

use super::{ActionPort, Attempts, Contract, Failure, Kind, Mode, ReadPort, WritePort};

const KINDS: [(Kind, &str); 5] = [
    (Kind::Function, "function"),
    (Kind::Type, "type_"),
    (Kind::Flow, "flow"),
    (Kind::Human, "human"),
    (Kind::Signal, "signal"),
];

const ATTEMPTS: [(Attempts, &str); 4] = [
    (Attempts::None, "none"),
    (Attempts::Visit, "visit"),
    (Attempts::One, "one"),
    (Attempts::Many, "many"),
];

const FAILURES: [(Failure, &str); 4] = [
    (Failure::Never, "never"),
    (Failure::Possible, "possible"),
    (Failure::Timeout, "timeout"),
    (Failure::OrTimeout, "or_timeout"),
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
        .map(|(_, word)| word);
    let word = word.unwrap_or_else(|| unreachable!("each value has its word"));
    Ident::new(word, Span::call_site())
}

fn value<T: Copy>(table: &[(T, &str)], word: &Ident) -> syn::Result<T> {
    let found = table.iter().find(|(_, candidate)| word == candidate);
    found
        .map(|(value, _)| *value)
        .ok_or_else(|| syn::Error::new(word.span(), "malformed contract"))
}

impl ToTokens for Contract {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Contract {
            reads,
            writes,
            about,
            ..
        } = self;
        let kind = word(&KINDS, self.kind);
        let attempts = word(&ATTEMPTS, self.attempts);
        let failure = word(&FAILURES, self.failure);
        let flags = [
            (self.single, "single"),
            (self.transaction, "transaction"),
            (self.never_awaits, "never_awaits"),
            (self.awaits_besides, "awaits_besides"),
            (self.broken, "broken"),
        ];
        let flags = flags.into_iter().filter(|(set, _)| *set);
        let flags = flags.map(|(_, flag)| Ident::new(flag, Span::call_site()));
        let actions = actions_tokens(&self.actions);
        tokens.extend(quote!({ #kind #attempts #failure [#(#flags)*] #about {#(#reads)*} {#(#writes)*} #actions }));
    }
}

/// The actions of a contract, which the macro of an enum supplies.
pub(crate) fn actions_tokens(actions: &[ActionPort]) -> TokenStream {
    quote!({#(#actions)*})
}

impl ToTokens for ReadPort {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let ReadPort {
            name,
            mode,
            rust_type,
            description,
        } = self;
        let mode = word(&MODES, *mode);
        let description = description.iter();
        tokens.extend(quote!(#mode #name #rust_type #(#description)*,));
    }
}

impl ToTokens for WritePort {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let WritePort {
            name,
            index,
            optional,
            adds,
            rust_type,
        } = self;
        let adds = adds.then(|| quote!(+));
        tokens.extend(quote!(#adds #name #index #optional #rust_type,));
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
        let attempts = value(&ATTEMPTS, &input.parse()?)?;
        let failure = value(&FAILURES, &input.parse()?)?;
        let flags;
        bracketed!(flags in input);
        let mut set = Vec::new();
        while !flags.is_empty() {
            set.push(flags.parse::<Ident>()?.to_string());
        }
        let has = |flag: &str| set.iter().any(|name| name == flag);
        let about = input.parse()?;
        Ok(Contract {
            kind,
            about,
            attempts,
            failure,
            single: has("single"),
            transaction: has("transaction"),
            never_awaits: has("never_awaits"),
            awaits_besides: has("awaits_besides"),
            broken: has("broken"),
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
            description: input.parse::<Option<LitStr>>()?.map(|text| text.value()),
        };
        input.parse::<Token![,]>()?;
        Ok(port)
    }
}

impl Parse for WritePort {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let port = WritePort {
            adds: input.parse::<Option<Token![+]>>()?.is_some(),
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
