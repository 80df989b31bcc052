//! The flow that this crate offers.

use flow_runtime::prelude::*;

use crate::nodes::{self, Lookup, classify};

flow! {
    /// Answers what it can look up.
    pub Desk(
        /// What is asked, such as `what is rust?`.
        question: String,
    ) -> (
        /// The whole answer.
        answer: String,
    ) {
        node book: Lookup;
        start >> classify;
        classify - "known" >> book >> nodes::answer >> end;
        classify - "unknown" >> nodes::answer;
        book - "error" >> end_politely >> end("not_found");
    }
}

#[node(writes = answer)]
pub(crate) fn end_politely(question: &str, error: &NodeError) -> String {
    format!("{question} Sorry: {}.", error.error())
}
