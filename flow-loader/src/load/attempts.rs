//! Checks what a document says about the attempts of a node.

use flow_spec::document::types;
use flow_spec::{Code, NodeDocument};

use crate::adapter::Adapter;

use super::Loader;

impl Loader<'_> {
    /// Refuses attempts that a node cannot make, and a function that decides about them, unless the
    /// node brings it.
    pub(super) fn check_retry(&mut self, node: &NodeDocument, pointer: &str) {
        let Some(retry) = &node.settings.retry else {
            return;
        };
        let adapter = self.adapters.get(pointer).cloned();
        let brings = adapter
            .as_ref()
            .is_some_and(|adapter| adapter.policy.retry.only_if.is_some());
        let place = format!("{pointer}/settings/retry");
        if let (Some(function), false) = (&retry.only_if, brings) {
            let message = format!(
                "`{function}` is a function of a flow in Rust, which a document cannot name"
            );
            let help =
                "remove `if`, or give it to the node: `#[node(retry(…, if = …))]`".to_owned();
            let place = format!("{place}/if");
            self.problem(Code::NamesNothing, place, message, Some(help));
        }
        let refused = adapter.and_then(|adapter| refused(node, retry.attempts, &adapter));
        if let Some((code, message, help)) = refused {
            self.problem(code, place, message, Some(help.to_owned()));
        }
    }
}

/// Why a node cannot make so many attempts, as `flow!` says it.
fn refused(
    node: &NodeDocument,
    attempts: u32,
    adapter: &Adapter,
) -> Option<(Code, String, &'static str)> {
    let name = &node.id;
    let takes = adapter.reads.iter().any(|read| read.mode.takes());
    let repeats = adapter.takes_policy && adapter.policy.retry.attempts.get() > 1;
    if node.r#type == types::HUMAN {
        let message = format!("`{name}` is asked for once, so there is nothing to retry");
        let help = "remove `retry`; `timeout` says how long there is to answer";
        Some((Code::NamesNothing, message, help))
    } else if !adapter.takes_policy && node.settings.timeout.is_none() {
        let message = format!("`{name}` cannot fail, so there is nothing to retry");
        let help = "let it return a `Result`, give it a `timeout`, or remove this";
        Some((Code::CannotFail, message, help))
    } else if takes && !repeats && attempts > 1 {
        let message = format!("`{name}` takes a value that its first attempt uses up");
        let help = "read it by reference, or put a `retry` on its `#[node]`, so that each attempt gets a clone";
        Some((Code::TakenTooEarly, message, help))
    } else {
        None
    }
}
