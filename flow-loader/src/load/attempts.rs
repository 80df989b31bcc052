//! Checks a document's settings for the attempts of a node.

use flow_spec::document::types;
use flow_spec::{Code, NodeDocument, closest};

use crate::adapter::Adapter;

use super::Loader;

impl Loader<'_> {
    /// Checks the document's settings for attempts at a registered node, or at a flow.
    pub(super) fn check_retry(
        &mut self,
        node: &NodeDocument,
        adapter: Option<&Adapter>,
        pointer: &str,
    ) {
        self.check_retry_if(node, adapter, pointer);
        self.check_timeout(node, adapter, pointer);
        let Some(retry) = &node.settings.retry else {
            return;
        };
        let refused = adapter.and_then(|adapter| refused(node, retry.attempts, adapter));
        if let Some((code, message, help)) = refused {
            let place = format!("{pointer}/settings/retry");
            self.problem(code, place, message, Some(help.to_owned()));
        }
    }

    /// Refuses a timeout of a registered node that never awaits: nothing could end it.
    /// `node` is the loop if the loop sets the timeout.
    pub(super) fn check_timeout(
        &mut self,
        node: &NodeDocument,
        adapter: Option<&Adapter>,
        pointer: &str,
    ) {
        let Some(adapter) = adapter.filter(|adapter| adapter.never_awaits) else {
            return;
        };
        if node.settings.timeout.is_some() {
            let name = adapter.name;
            let message = format!("`{name}` never awaits, so a `timeout` cannot end it");
            let help = "make it an `async fn`, or write `#[node(blocking)]` if it blocks";
            let place = format!("{pointer}/settings/timeout");
            self.problem(Code::NamesNothing, place, message, Some(help.to_owned()));
        }
    }

    /// Refuses a function that decides about attempts if neither the node nor the registry has it.
    /// `node` is the loop if the loop names the function.
    pub(super) fn check_retry_if(
        &mut self,
        node: &NodeDocument,
        adapter: Option<&Adapter>,
        pointer: &str,
    ) {
        let retry = node.settings.retry.as_ref();
        let Some(function) = retry.and_then(|retry| retry.only_if.as_deref()) else {
            return;
        };
        if self.registry.retry_if(function, adapter).is_some() {
            return;
        }
        let message = format!("no function `{function}` is registered");
        let own = adapter.and_then(|adapter| adapter.retry_if);
        let known = self.registry.retry_ifs().chain(own);
        let help = match closest(function, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("register it: `.with_retry_if(\"{function}\", {function})`"),
        };
        let place = format!("{pointer}/settings/retry/if");
        self.problem(Code::NamesNothing, place, message, Some(help));
    }
}

/// The reason why a node cannot make so many attempts, in the words of `flow!`.
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
        let help = if adapter.never_awaits {
            "let it return a `Result`, or remove this"
        } else {
            "let it return a `Result`, give it a `timeout`, or remove this"
        };
        Some((Code::CannotFail, message, help))
    } else if takes && !repeats && attempts > 1 {
        let message = format!("`{name}` takes a value that its first attempt uses up");
        let help = "read it by reference, or put a `retry` on its `#[node]`, so that each attempt gets a clone";
        Some((Code::TakenTooEarly, message, help))
    } else {
        None
    }
}
