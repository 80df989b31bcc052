//! Lists of nodes and flows: `registry![review, Ask = Ask { model }]`, `tools![search]`.
//!
//! Like `flow!`, such a macro asks each node's macro for its contract, and is called again with it.

use std::collections::HashMap;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Expr, LitStr, Path, PathSegment, Token, braced, bracketed, token};

use crate::contract::{Contract, Kind};
use crate::crates::{CratePath, Package};
use crate::fragments::ungrouped;
use crate::names::{here, is_type_name, keyword_in, path_text, type_of};
use crate::protocol::macro_path;
use crate::report::Report;
use crate::text::type_text;

/// A macro that takes such a list.
pub(crate) struct List {
    /// The package of the macro.
    pub(crate) package: Package,
    /// The name of the macro.
    pub(crate) name: &'static str,
    /// The type of the macro's value.
    pub(crate) makes: &'static str,
    /// Returns the error for the version of an entry, with help.
    pub(crate) wrong_version: fn(&str) -> Option<String>,
    /// Returns the error for a repeated entry, given a name, a version and both paths. `None` if
    /// the two entries can be distinguished.
    pub(crate) twice: fn(&str, Option<&str>, [&Path; 2]) -> Option<String>,
    /// Returns the name that identifies an entry, given the name as written.
    pub(crate) key: fn(&str) -> String,
    /// Returns the code for an entry, given its contract and the path of the package.
    pub(crate) entry: fn(&Told, &CratePath) -> syn::Result<TokenStream>,
}

impl List {
    /// The expansion of the macro: for a list of nodes, or for the second half of one of them.
    pub(crate) fn expand(&self, input: TokenStream) -> TokenStream {
        match input.clone().into_iter().next() {
            Some(TokenTree::Punct(first)) if first.as_char() == '@' => self.told(input),
            _ => self.list(ungrouped(input)),
        }
    }

    fn list(&self, input: TokenStream) -> TokenStream {
        let entries = Punctuated::<Entry, Token![,]>::parse_terminated.parse2(input);
        let entries = match entries {
            Ok(entries) => entries,
            Err(error) => return error.into_compile_error(),
        };
        let mut report = Report::default();
        let mut seen = HashMap::new();
        let sound = entries
            .iter()
            .filter(|entry| self.check(entry, &mut seen, &mut report));
        let list = format_ident!("__{}", self.name, span = Span::mixed_site());
        let krate = self.package.path().at(Span::call_site());
        let asked: Vec<TokenStream> = sound.map(|entry| self.ask(&krate, &list, entry)).collect();
        let mutable = (!asked.is_empty()).then(|| quote!(mut));
        let errors = report.into_tokens();
        let makes = Ident::new(self.makes, Span::call_site());
        quote!({
            let #mutable #list = #krate::#makes::new();
            #(#asked)*
            #errors
            #list
        })
    }

    /// Asks the macro of a node or a flow for its contract.
    fn ask(&self, krate: &TokenStream, list: &Ident, entry: &Entry) -> TokenStream {
        let contract = macro_path(&entry.path);
        let name = Ident::new(self.name, Span::call_site());
        quote! {
            #krate::every_node_needs_the_attribute_node! {
                #krate::#name, #name [#contract] { #list #entry }
            }
        }
    }

    /// Checks everything that needs no contract. Returns false if something is wrong.
    fn check<'a>(
        &self,
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
            && let Some(text) = (self.wrong_version)(&wrong.value())
        {
            report.text(wrong.span(), text);
            return false;
        }
        let name = name(&entry.path);
        let other = seen.insert(((self.key)(&name), version.clone()), &entry.path);
        let text =
            other.and_then(|other| (self.twice)(&name, version.as_deref(), [other, &entry.path]));
        match text {
            Some(text) => {
                report.text(last_span(&entry.path), text);
                false
            }
            None => true,
        }
    }

    /// The second half of the expansion, which a node's macro calls: adds the node to the list. It
    /// has no separate name, since rustc shows the name beside errors in its output.
    fn told(&self, input: TokenStream) -> TokenStream {
        let told: Told = match syn::parse2(input) {
            Ok(told) => told,
            Err(error) => return error.into_compile_error(),
        };
        if told.contract.broken {
            return TokenStream::new();
        }
        (self.entry)(&told, &self.package.path()).unwrap_or_else(syn::Error::into_compile_error)
    }
}

/// The input of the second half, with the contract of a node.
pub(crate) struct Told {
    /// The list.
    pub(crate) list: Ident,
    pub(crate) entry: Entry,
    pub(crate) contract: Contract,
}

impl Parse for Told {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (body, contracts, rest);
        input.parse::<Token![@]>()?;
        input.parse::<Ident>()?;
        bracketed!(rest in input);
        rest.parse::<TokenStream>()?;
        braced!(body in input);
        let list = body.parse()?;
        let entry = body.parse()?;
        bracketed!(contracts in input);
        Ok(Told {
            list,
            entry,
            contract: contracts.parse()?,
        })
    }
}

impl Told {
    /// Refuses a value for a node that takes none.
    pub(crate) fn refuse_value(&self) -> syn::Result<()> {
        let Entry { path, value, .. } = &self.entry;
        let what = without_value(&self.contract, path);
        let (Some(value), Some(what)) = (value, what) else {
            return Ok(());
        };
        let name = name(path);
        let text = format!("`{name}` is {what}, and has no value\nhelp: remove `= …`");
        Err(syn::Error::new_spanned(value, text))
    }
}

/// `review`, `review @ "1.2.0"`, or `Ask = Ask { model }`.
pub(crate) struct Entry {
    pub(crate) path: Path,
    pub(crate) version: Option<LitStr>,
    pub(crate) value: Option<Expr>,
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(Token![#]) {
            let text = "an entry takes no attributes: for `#[cfg(…)]`, write a whole list for each configuration";
            return Err(input.error(text));
        }
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

/// The error if the name of a node is missing.
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

/// Parses the text behind a sign. If it is missing, the error is at the sign.
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

/// The name of a node or a flow in documents.
pub(crate) fn name(path: &Path) -> String {
    let last = path.segments.last();
    let text = last.map(|last| type_text(&syn::parse_quote!(#last)));
    let text = text.unwrap_or_default();
    text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
}

pub(crate) fn last_span(path: &Path) -> Span {
    let last = path.segments.last();
    last.map_or_else(Span::call_site, |last| last.ident.span())
}

/// The kind of a node that is not a type with settings.
fn without_value(contract: &Contract, path: &Path) -> Option<&'static str> {
    let last = path.segments.last();
    match contract.kind {
        Kind::Type if last.is_some_and(|last| is_type_name(&last.ident)) => None,
        Kind::Type | Kind::Function => Some("a function"),
        Kind::Human => Some("a type that people are asked for"),
        Kind::Signal => Some("a signal"),
        Kind::Flow => Some("a flow"),
    }
}

/// A name for the type of a node, and its definition, so that missing generic arguments are one
/// error. A type with arguments keeps its name: they may belong to the surrounding function, which
/// a definition cannot use.
pub(crate) fn named_once(path: &Path) -> (TokenStream, TokenStream) {
    let has_arguments = |segment: &PathSegment| !segment.arguments.is_none();
    if path.segments.iter().any(has_arguments) {
        return (TokenStream::new(), path.to_token_stream());
    }
    let alias = format_ident!("__Node", span = here(path.span()));
    (quote!(type #alias = #path;), quote!(#alias))
}
