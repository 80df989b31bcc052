//! Collects mistakes: a phase reports everything that it can find, and the next one starts only if
//! there are no mistakes.

use std::fmt::Display;

use flow_spec::Code;
use proc_macro2::{Span, TokenStream};

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Report {
    errors: Vec<syn::Error>,
}

impl Report {
    /// Adds a mistake for which rustc's own message is enough, such as a syntax error.
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.errors.push(error);
    }

    /// Adds a mistake. `message` says what is wrong, and `help` how to fix it.
    pub(crate) fn error(
        &mut self,
        code: Code,
        span: Span,
        message: impl Display,
        help: impl Display,
    ) {
        self.errors.push(syn::Error::new(
            span,
            format!("{message} [{code}]\nhelp: {help}"),
        ));
    }

    /// Adds a mistake whose text is complete.
    pub(crate) fn text(&mut self, span: Span, text: impl Display) {
        self.errors.push(syn::Error::new(span, text));
    }

    /// Returns true if there are no mistakes.
    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// The value of the result. `None` for a mistake, which is added.
    pub(crate) fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// The mistakes as tokens that make rustc print them.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.errors
            .into_iter()
            .map(|error| error.into_compile_error())
            .collect()
    }
}
