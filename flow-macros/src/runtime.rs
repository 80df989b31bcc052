//! The one place that spells the hidden module of the runtime.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

/// The hidden module of the runtime that generated code refers to.
pub(crate) fn runtime() -> TokenStream {
    quote!(::flow_runtime::__private)
}

/// The same, for code that is shown at `site`. All tokens of an expression have to be at one place:
/// rustc joins several places into one that nobody wrote.
pub(crate) fn runtime_at(site: Span) -> TokenStream {
    quote_spanned!(site=> ::flow_runtime::__private)
}
