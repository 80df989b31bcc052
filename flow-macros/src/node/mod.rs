//! `#[node]`: the user's code stays as written; next to it come the items that `flow!` needs.

mod attribute;
mod context;
mod contract;
mod documented;
mod external;
mod function;
mod outcome;
mod parameter;
mod prompt;
mod shown;
mod stacked;
mod step;
mod steps;
mod transaction;
mod types;

use flow_spec::Code;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::quote;

use crate::fragments::{ungrouped, ungrouped_item};
use crate::report::Report;
use crate::runtime::Runtime;

use attribute::NodeAttribute;
use context::WithPath;

pub(crate) use contract::with_actions;

/// The expansion of `#[node(settings)] item`.
pub(crate) fn define(settings: TokenStream, item: TokenStream) -> TokenStream {
    let (settings, item) = (ungrouped(settings), ungrouped_item(item));
    let mut report = Report::default();
    let mut attribute = NodeAttribute::parse(settings, &mut report);
    attribute.broken = !report.is_empty();
    attribute.deprecated = is_deprecated(&item);
    expand(&attribute, item, report)
}

/// The item, its mistakes, and the items next to it. A wrong setting is left out, but all items
/// exist, so that code that uses the node has no second error.
fn expand(attribute: &NodeAttribute, item: TokenStream, mut of_settings: Report) -> TokenStream {
    let mut report = Report::default();
    let kind = item_kind(&item);
    let item = match kind {
        Some("enum" | "struct") => item,
        _ => stacked::refuse(item, &mut report),
    };
    if let (Some(prompt), Some("impl" | "fn" | "async")) = (&attribute.human, kind) {
        let help = "put `#[node(human = …)]` on the `enum` or the `struct` of the answer";
        let message = "a person is asked for the value of a type, and this is code to run";
        report.error(Code::Malformed, prompt.span(), message, help);
    }
    if let (Some(span), Some("impl" | "fn" | "async")) = (attribute.signal, kind) {
        let help = "put `#[node(signal)]` on the `enum` or the `struct` that is sent";
        let message = "a signal is a value of a type, and this is code to run";
        report.error(Code::Malformed, span, message, help);
    }
    let expansion = match kind {
        Some("impl") => report_or(
            steps::expand(attribute, item.clone(), &mut report),
            &mut report,
        ),
        Some("enum" | "struct") => report_or(
            external::expand(attribute, item.clone(), &mut of_settings, &mut report),
            &mut report,
        ),
        _ => report_or(
            function::expand(attribute, item.clone(), &mut report),
            &mut report,
        ),
    };
    let expansion = match (report.is_empty(), kind) {
        (true, _) => expansion,
        (false, Some("impl")) => steps::stub(item.clone(), &attribute.runtime).unwrap_or_default(),
        (false, Some("enum" | "struct")) => {
            external::stub(attribute, item.clone()).unwrap_or_default()
        }
        (false, _) if expansion.is_empty() => {
            function::stub(item.clone(), &attribute.runtime).unwrap_or_default()
        }
        (false, _) => expansion,
    };
    let (item, used) = match kind {
        Some("enum" | "struct") => (external::item(attribute, item), TokenStream::new()),
        _ => item_of_rustc(item, &attribute.runtime),
    };
    let (of_settings, of_item) = (of_settings.into_tokens(), report.into_tokens());
    let errors = quote!(#of_settings #of_item);
    match kind {
        Some("impl") => {
            let items = steps::once(quote!(#item #expansion), item);
            quote!(#items #used #errors)
        }
        _ => quote!(#item #used #errors #expansion),
    }
}

/// The item for rustc, and the additional items for that.
fn item_of_rustc(item: TokenStream, runtime: &Runtime) -> (TokenStream, TokenStream) {
    let kind = item_kind(&item);
    if let Some("enum" | "struct") = kind {
        return (item, TokenStream::new());
    }
    let item = stacked::refuse(item, &mut Report::default());
    let constants = documented::constants(&item);
    let WithPath { item, used } = match kind {
        Some("impl") => context::of_block(documented::of_block(item), runtime),
        _ => context::of_function(documented::of_function(item), runtime),
    };
    (item, quote!(#used #constants))
}

/// The item that rustc gets from `#[node(settings)] item`.
#[cfg(test)]
pub(crate) fn item_of(settings: TokenStream, item: TokenStream) -> TokenStream {
    let attribute = NodeAttribute::parse(ungrouped(settings), &mut Report::default());
    item_of_rustc(ungrouped_item(item), &attribute.runtime).0
}

/// Returns true if an attribute of the item, or of a part of it, marks it as deprecated.
fn is_deprecated(item: &TokenStream) -> bool {
    let mut after_mark = false;
    item.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => {
            let first = group.stream().into_iter().next();
            let is_it = matches!(&first, Some(TokenTree::Ident(word)) if word == "deprecated" || word == "allow" && group.stream().to_string().contains("deprecated"));
            after_mark && is_it || group.delimiter() == Delimiter::Brace && is_deprecated(&group.stream())
        }
        token => {
            after_mark = matches!(&token, TokenTree::Punct(mark) if mark.as_char() == '#');
            false
        }
    })
}

/// Reports a mistake that prevents expansion. The item then stands alone.
fn report_or(expansion: syn::Result<TokenStream>, report: &mut Report) -> TokenStream {
    report.ok(expansion).unwrap_or_default()
}

/// The keyword of an item's kind.
fn item_kind(item: &TokenStream) -> Option<&'static str> {
    item.clone().into_iter().find_map(|token| match token {
        TokenTree::Ident(word) => ["impl", "enum", "struct", "fn", "async"]
            .into_iter()
            .find(|kind| word == kind),
        _ => None,
    })
}
