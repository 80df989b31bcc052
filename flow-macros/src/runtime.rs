//! The only place that spells the path of the runtime, and of its hidden module.
//!
//! All generated code refers to the runtime. Whoever generates it is given a [`Runtime`], which is
//! made once for each expansion, as soon as the setting `crate = path` is parsed.

use flow_spec::Code;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt as _, quote_spanned};
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Path, Token};

use crate::crates::{CratePath, RUNTIME};
use crate::report::Report;

/// The name under which items import the hidden module.
const IMPORT: &str = "__rt";

/// The runtime of one expansion.
#[derive(Clone)]
pub(crate) struct Runtime {
    root: Root,
    /// True for the code of items that have imported the hidden module.
    is_imported: bool,
}

/// The path of the runtime.
#[derive(Clone)]
enum Root {
    /// The path of the dependency.
    Crate(CratePath),
    /// The path that the user has named.
    Named(Path),
}

/// The path of the dependency, as the user's `Cargo.toml` names it.
impl Default for Runtime {
    fn default() -> Self {
        Runtime {
            root: Root::Crate(RUNTIME.path()),
            is_imported: false,
        }
    }
}

impl Runtime {
    /// The runtime at the path that the user has named: `crate = path`.
    pub(crate) fn at(path: Path) -> Self {
        Runtime {
            root: Root::Named(path),
            is_imported: false,
        }
    }

    /// The path, if the user has named it.
    pub(crate) fn named(&self) -> Option<&Path> {
        match &self.root {
            Root::Crate(_) => None,
            Root::Named(path) => Some(path),
        }
    }

    /// The runtime.
    pub(crate) fn root(&self) -> RuntimePath<'_> {
        self.root_at(Span::call_site())
    }

    /// The runtime, for code that is shown at `site`. All tokens of an expression have to be at one
    /// place: rustc joins several places into one that nobody wrote.
    pub(crate) fn root_at(&self, site: Span) -> RuntimePath<'_> {
        RuntimePath {
            runtime: self,
            site,
            is_hidden: false,
        }
    }

    /// The hidden module of the runtime that generated code refers to.
    pub(crate) fn hidden(&self) -> RuntimePath<'_> {
        self.hidden_at(Span::call_site())
    }

    /// The hidden module, for code that is shown at `site`.
    pub(crate) fn hidden_at(&self, site: Span) -> RuntimePath<'_> {
        RuntimePath {
            runtime: self,
            site,
            is_hidden: true,
        }
    }

    /// The import of the hidden module under a short name, and the runtime for the items next to
    /// it. A flow of many nodes has thousands of such paths, and each token takes time. The items
    /// have to be in a separate block.
    pub(crate) fn imported(&self, site: Span) -> (TokenStream, Self) {
        let rt = self.hidden_at(site);
        let name = Ident::new(IMPORT, site);
        let import = quote_spanned!(site=> use #rt as #name;);
        let imported = Runtime {
            is_imported: true,
            ..self.clone()
        };
        (import, imported)
    }
}

/// A path to the runtime, as tokens. They are appended one by one: appending a `TokenStream` to
/// another takes several calls of rustc, and most of what is generated begins with this path.
#[derive(Clone, Copy)]
pub(crate) struct RuntimePath<'a> {
    runtime: &'a Runtime,
    site: Span,
    is_hidden: bool,
}

impl ToTokens for RuntimePath<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let site = self.site;
        if self.is_hidden && self.runtime.is_imported {
            tokens.append(Ident::new(IMPORT, site));
            return;
        }
        match &self.runtime.root {
            Root::Crate(path) => path.append(site, tokens),
            Root::Named(path) => {
                let path = path.to_token_stream().into_iter();
                tokens.extend(path.map(|mut token: TokenTree| {
                    token.set_span(token.span().located_at(site));
                    token
                }));
            }
        }
        if self.is_hidden {
            segment("__private", site, tokens);
        }
    }
}

/// Appends `::name`.
fn segment(name: &str, site: Span, tokens: &mut TokenStream) {
    Token![::](site).to_tokens(tokens);
    tokens.append(Ident::new(name, site));
}

/// Parses `crate = path`.
pub(crate) fn named(input: ParseStream<'_>) -> syn::Result<Path> {
    let keyword: Token![crate] = input.parse()?;
    let text = "expected the path of the runtime: `crate = my_crate::flow_runtime`";
    let path = (|| {
        input.parse::<Token![=]>()?;
        input.call(Path::parse_mod_style)
    })();
    path.map_err(|_| syn::Error::new(keyword.span, text))
}

/// The runtime for an item. An attribute may name its path: `#[action(crate = path)]`.
pub(crate) fn of_item(attributes: &[Attribute], name: &str, report: &mut Report) -> Runtime {
    named_by(attributes, name, report).map_or_else(Runtime::default, Runtime::at)
}

fn named_by(attributes: &[Attribute], name: &str, report: &mut Report) -> Option<Path> {
    let mut paths = attributes.iter().filter_map(|attribute| {
        let arguments = attribute.meta.require_list().ok()?.tokens.clone();
        let is_crate = |input: ParseStream<'_>| {
            let is_crate = input.peek(Token![crate]);
            input.parse::<TokenStream>()?;
            Ok(is_crate)
        };
        let is_named = attribute.path().is_ident(name)
            && is_crate.parse2(arguments.clone()).unwrap_or_default();
        is_named.then(|| report.ok(named.parse2(arguments)))
    });
    let path = paths.next()?;
    if let Some(Some(second)) = paths.next() {
        let span = syn::spanned::Spanned::span(&second);
        report.error(
            Code::Name,
            span,
            "`crate` is given twice",
            "remove one of them",
        );
    }
    path
}
