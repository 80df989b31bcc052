//! `registry![…]`: the nodes and flows that documents may use.
//!
//! Like `flow!`, it asks each node's macro for its contract. With that, it generates an adapter: how
//! the node is called with values whose types are known only at run time. rustc infers the types
//! from the call of the node itself, in code that never runs. Of a flow, the document is registered.

mod adapter;

use std::collections::HashMap;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use semver::Version;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Expr, LitStr, Path, Token, braced, bracketed, token};

use crate::contract::{Contract, Kind};
use crate::names::{here, is_type_name, keyword_in, located, path_text, type_of};
use crate::protocol::macro_path;
use crate::report::Report;
use crate::text::type_text;

/// `review`, `review @ "1.2.0"`, or `Ask = Ask { model }`.
struct Entry {
    path: Path,
    version: Option<LitStr>,
    value: Option<Expr>,
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let path = match input.parse() {
            Ok(path) => path,
            Err(_) => return Err(input.error(not_a_name(input))),
        };
        refuse_value(&path, input)?;
        let version = match input.parse::<Option<Token![@]>>()? {
            Some(sign) => Some(behind(input, sign.span, VERSION)?),
            None => None,
        };
        let value = match input.parse::<Option<Token![=]>>()? {
            Some(sign) => Some(behind(input, sign.span, "expected a value after `=`")?),
            None => None,
        };
        Ok(Entry {
            path,
            version,
            value,
        })
    }
}

/// What to say where the name of a node should be.
fn not_a_name(input: ParseStream<'_>) -> String {
    let quoted = input.fork().parse::<LitStr>();
    match quoted.ok().and_then(|text| text.parse::<Path>().ok()) {
        Some(path) => format!("a node is named without quotes: `{}`", path_text(&path)),
        None => "expected the name of a node or a flow".to_owned(),
    }
}

/// Refuses a value without the name of its node.
fn refuse_value(path: &Path, input: ParseStream<'_>) -> syn::Result<()> {
    let (value, ty) = if input.peek(token::Brace) {
        (format!("{} {{ … }}", path_text(path)), path_text(path))
    } else if input.peek(token::Paren) {
        (format!("{}(…)", path_text(path)), type_of(path))
    } else {
        return Ok(());
    };
    let text = format!("a value comes after the name of its node and `=`: `{ty} = {value}`");
    Err(syn::Error::new(path.span(), text))
}

const VERSION: &str = "expected a version in quotes after `@`, as in `@ \"1.2.0\"`";

/// What is behind a sign. If there is nothing, the error is at the sign.
fn behind<T: Parse>(input: ParseStream<'_>, sign: Span, expected: &str) -> syn::Result<T> {
    let is_empty = input.is_empty() || input.peek(Token![,]);
    input.parse().map_err(|error| {
        let span = if is_empty { sign } else { error.span() };
        syn::Error::new(span, expected)
    })
}

impl ToTokens for Entry {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Entry { path, .. } = self;
        let (version, value) = (self.version.iter(), self.value.iter());
        tokens.extend(quote!(#path #(@ #version)* #(= #value)*));
    }
}

/// The expansion of `registry!`: of a list of nodes, or of the second half for one of them.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    match input.clone().into_iter().next() {
        Some(TokenTree::Punct(first)) if first.as_char() == '@' => registered(input),
        _ => list(input),
    }
}

fn list(input: TokenStream) -> TokenStream {
    let entries = Punctuated::<Entry, Token![,]>::parse_terminated.parse2(input);
    let entries = match entries {
        Ok(entries) => entries,
        Err(error) => return error.into_compile_error(),
    };
    let mut report = Report::default();
    let mut seen = HashMap::new();
    let sound = entries
        .iter()
        .filter(|entry| check(entry, &mut seen, &mut report));
    let registry = Ident::new("registry", Span::mixed_site());
    let asked: Vec<TokenStream> = sound.map(|entry| ask(&registry, entry)).collect();
    let mutable = (!asked.is_empty()).then(|| quote!(mut));
    let errors = report.into_tokens();
    quote!({
        let #mutable #registry = ::flow_loader::Registry::new();
        #(#asked)*
        #errors
        #registry
    })
}

/// Asks the macro of a node or a flow for its contract.
fn ask(registry: &Ident, entry: &Entry) -> TokenStream {
    let contract = macro_path(&entry.path);
    quote! {
        ::flow_loader::every_node_needs_the_attribute_node! {
            ::flow_loader::registry, registry [#contract] { #registry #entry }
        }
    }
}

/// Checks what can be seen without the contract. Returns false if something is wrong.
fn check<'a>(
    entry: &'a Entry,
    seen: &mut HashMap<(String, Option<String>), &'a Path>,
    report: &mut Report,
) -> bool {
    if let Some(word) = keyword_in(&entry.path) {
        let text = format!("`{word}` is a word of Rust and names no node");
        report.text(word.span(), text);
        return false;
    }
    let version = entry.version.as_ref().map(LitStr::value);
    if let Some(wrong) = &entry.version
        && let text = wrong.value()
        && Version::parse(&text).is_err()
    {
        let text = format!(
            "`{text}` is not a version\nhelp: write three numbers, as in `@ \"1.2.0\"` or `@ \"2.0.0-beta.1\"`"
        );
        report.text(wrong.span(), text);
        return false;
    }
    let name = name(&entry.path);
    // Without versions, two nodes of one name can be told apart by their paths.
    let is_same = |other: &Path| version.is_some() || *other == entry.path;
    let other = seen.insert((name.clone(), version.clone()), &entry.path);
    if !other.is_some_and(is_same) {
        return true;
    }
    let text = match version {
        Some(version) => format!(
            "version {version} of `{name}` is registered twice\nhelp: remove one of them, or give it another version"
        ),
        None => format!("`{name}` is registered twice\nhelp: remove one of them"),
    };
    report.text(last_span(&entry.path), text);
    false
}

/// The name of a node or a flow in documents.
fn name(path: &Path) -> String {
    let last = path.segments.last();
    let text = last.map(|last| type_text(&syn::parse_quote!(#last)));
    let text = text.unwrap_or_default();
    text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
}

fn last_span(path: &Path) -> Span {
    let last = path.segments.last();
    last.map_or_else(Span::call_site, |last| last.ident.span())
}

/// What a node's macro is asked with, and its contract.
struct Told {
    registry: Ident,
    entry: Entry,
    contract: Contract,
}

impl Parse for Told {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (body, contracts, rest);
        input.parse::<Token![@]>()?;
        input.parse::<Ident>()?;
        bracketed!(rest in input);
        rest.parse::<TokenStream>()?;
        braced!(body in input);
        let registry = body.parse()?;
        let entry = body.parse()?;
        bracketed!(contracts in input);
        Ok(Told {
            registry,
            entry,
            contract: contracts.parse()?,
        })
    }
}

/// The second half of the expansion, which a node's macro calls: adds the node to the registry. It
/// has no name of its own, since rustc names it beside errors in what it writes.
fn registered(input: TokenStream) -> TokenStream {
    let told: Told = match syn::parse2(input) {
        Ok(told) => told,
        Err(error) => return error.into_compile_error(),
    };
    let Told {
        registry,
        entry,
        contract,
    } = told;
    if contract.broken {
        return TokenStream::new();
    }
    let Entry { path, value, .. } = &entry;
    let name = name(path);
    if let (Some(value), Some(what)) = (value, without_value(&contract, path)) {
        let text = format!("`{name}` is {what}, and has no value\nhelp: remove `= …`");
        return syn::Error::new_spanned(value, text).into_compile_error();
    }
    let version = match &entry.version {
        Some(version) => quote!(::core::option::Option::Some(#version)),
        None => quote!(::core::option::Option::None),
    };
    let site = here(last_span(path));
    if contract.kind == Kind::Flow {
        let path = located(path);
        return quote_spanned!(site=> #registry.__flow::<#path>(#name, #version););
    }
    let adapter = adapter::adapter(path, &name, value.as_ref(), &contract);
    quote_spanned!(site=> #registry.__node(#adapter, #version);)
}

/// What it is, if it is not a type with settings.
fn without_value(contract: &Contract, path: &Path) -> Option<&'static str> {
    let last = path.segments.last();
    match contract.kind {
        Kind::Type if last.is_some_and(|last| is_type_name(&last.ident)) => None,
        Kind::Type | Kind::Function => Some("a function"),
        Kind::Human => Some("a type that people are asked for"),
        Kind::Flow => Some("a flow"),
    }
}
