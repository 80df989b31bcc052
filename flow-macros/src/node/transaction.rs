//! The setting `transaction`: its restrictions, and the code of an attempt in a transaction.

use flow_spec::Code;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::report::Report;
use crate::runtime::Runtime;

/// Reports a function or an `exec` that cannot run in a transaction, or gets none.
pub(super) fn refuse(name: &Ident, span: Span, is_async: bool, has_it: bool, report: &mut Report) {
    if !is_async {
        let message = format!("`{name}` is not async, and a transaction is");
        let help = "write `async fn`: what a transaction does is awaited";
        report.error(Code::Malformed, span, message, help);
    }
    if !has_it {
        let message = format!("`{name}` gets no transaction");
        let help = "add a parameter for it, such as `tx: &mut flow_sqlite::Transaction`";
        report.error(Code::Malformed, span, message, help);
    }
}

/// Reports a poll in a transaction.
pub(super) fn refuse_poll(name: &Ident, poll: Span, report: &mut Report) {
    let message = format!("`{name}` cannot poll in a transaction");
    let help = "poll in one node, and write in the next";
    report.error(Code::Malformed, poll, message, help);
}

/// The future of an attempt: it begins a transaction, awaits `result`, and ends it.
pub(super) fn attempt(result: &TokenStream, runtime: &Runtime) -> TokenStream {
    let rt = runtime.hidden();
    quote!(async {
        let mut __transaction = #rt::Visit::begin(&__visited).await?;
        let __result = #result;
        #rt::Begun::end(__transaction, __result).await
    })
}

/// The function that converts its error to a failure, given the one for errors of the node.
pub(super) fn into_failure(into_failure: &TokenStream, runtime: &Runtime) -> TokenStream {
    let rt = runtime.hidden();
    quote!(|__error| match __error {
        #rt::InTransaction::Node(__error) => #into_failure(__error),
        #rt::InTransaction::Database(__failure) => __failure,
    })
}

/// The function that decides if another attempt follows: if the database failed, one does.
pub(super) fn decides(runtime: &Runtime) -> TokenStream {
    let rt = runtime.hidden();
    quote!(|__error| match __error {
        #rt::InTransaction::Node(__error) => Self::__DECIDES(__error),
        #rt::InTransaction::Database(_) => true,
    })
}
