//! The only place that spells the path of the runtime, and of its hidden module.
//!
//! The path is that of the dependency, unless the user names another one: `#[node(crate = path)]`.
//! It is kept during one expansion, since all generated code refers to it.

use std::cell::{Cell, RefCell};

use flow_spec::Code;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt as _, quote, quote_spanned};
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Path, Token};

use crate::crates::{CratePath, RUNTIME};
use crate::report::Report;

thread_local! {
    /// The path that the user has named.
    static NAMED: RefCell<Option<Path>> = const { RefCell::new(None) };
    /// The path of the dependency, if the user has named none.
    static FOUND: RefCell<Option<CratePath>> = const { RefCell::new(None) };
    /// True while the expansion is of items that have imported the hidden module.
    static IMPORTED: Cell<bool> = const { Cell::new(false) };
}

/// The name under which items import the hidden module.
const IMPORT: &str = "__rt";

/// Forgets the path after an expansion: its tokens are invalid in the next one.
struct Forget;

impl Drop for Forget {
    fn drop(&mut self) {
        NAMED.set(None);
        FOUND.set(None);
    }
}

/// Expands with the runtime at this path. `None` is the usual one.
pub(crate) fn at<T>(path: Option<Path>, expand: impl FnOnce() -> T) -> T {
    let _forget = Forget;
    FOUND.set(path.is_none().then(|| RUNTIME.path()));
    NAMED.set(path);
    expand()
}

/// Items that refer to the hidden module by a short name: a flow of many nodes has thousands of
/// such paths, and each token takes time. They have to be in a separate block.
pub(crate) fn importing(site: Span, items: impl FnOnce() -> TokenStream) -> TokenStream {
    let rt = runtime_at(site);
    let name = Ident::new(IMPORT, site);
    let import = quote_spanned!(site=> use #rt as #name;);
    let before = IMPORTED.replace(true);
    let items = items();
    IMPORTED.set(before);
    quote!(#import #items)
}

/// A path to the runtime, as tokens. They are appended one by one: appending a `TokenStream` to
/// another takes several calls of rustc, and most of what is generated begins with this path.
pub(crate) struct Runtime {
    site: Span,
    /// True for the hidden module.
    hidden: bool,
}

impl ToTokens for Runtime {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let site = self.site;
        if self.hidden && IMPORTED.get() {
            tokens.append(Ident::new(IMPORT, site));
            return;
        }
        let named = NAMED.with_borrow(|path| path.as_ref().map(|path| path.to_token_stream()));
        match named {
            Some(path) => tokens.extend(path.into_iter().map(|mut token: TokenTree| {
                token.set_span(token.span().located_at(site));
                token
            })),
            None => FOUND.with_borrow_mut(|found| {
                found
                    .get_or_insert_with(|| RUNTIME.path())
                    .append(site, tokens);
            }),
        }
        if self.hidden {
            segment("__private", site, tokens);
        }
    }
}

/// Appends `::name`.
fn segment(name: &str, site: Span, tokens: &mut TokenStream) {
    Token![::](site).to_tokens(tokens);
    tokens.append(Ident::new(name, site));
}

/// The runtime, for code that is shown at `site`. All tokens of an expression have to be at one
/// place: rustc joins several places into one that nobody wrote.
pub(crate) fn runtime_crate_at(site: Span) -> Runtime {
    Runtime {
        site,
        hidden: false,
    }
}

/// The runtime.
pub(crate) fn runtime_crate() -> Runtime {
    runtime_crate_at(Span::call_site())
}

/// The hidden module of the runtime that generated code refers to.
pub(crate) fn runtime() -> Runtime {
    runtime_at(Span::call_site())
}

/// The hidden module, for code that is shown at `site`.
pub(crate) fn runtime_at(site: Span) -> Runtime {
    Runtime { site, hidden: true }
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

/// The path that an attribute of an item names: `#[action(crate = path)]`.
pub(crate) fn named_by(attributes: &[Attribute], name: &str, report: &mut Report) -> Option<Path> {
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
