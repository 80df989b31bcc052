//! The policy of a node, from its document.

use std::num::NonZeroU32;
use std::time::Duration;

use flow_runtime::{Policy, Retry, RetryIf};
use flow_spec::document::SettingsDocument;

use crate::adapter::Adapter;
use crate::registry::Registry;

/// The policy of a node: its own, changed by its settings in the document, and by those of the loop
/// that runs it for its items, if any.
pub(super) fn policy(
    settings: &SettingsDocument,
    of_loop: Option<&SettingsDocument>,
    adapter: Option<&Adapter>,
    registry: &Registry,
) -> Policy {
    let own = adapter.map_or(Policy::DEFAULT, |adapter| *adapter.policy);
    let retry_if = |name: &str| registry.retry_if(name, adapter);
    let declared = changed(own, settings, retry_if);
    of_loop.map_or(declared, |of_loop| changed(declared, of_loop, retry_if))
}

fn changed(
    mut policy: Policy,
    settings: &SettingsDocument,
    retry_if: impl Fn(&str) -> Option<RetryIf>,
) -> Policy {
    if let Some(retry) = &settings.retry {
        let attempts = NonZeroU32::new(retry.attempts).unwrap_or(NonZeroU32::MIN);
        let mut made = Retry::attempts(attempts);
        let given = |text: &Option<String>| text.as_deref().map(duration);
        made.wait = given(&retry.wait).unwrap_or(made.wait);
        made.max_wait = given(&retry.max_wait).unwrap_or(made.max_wait);
        made.backoff = retry.backoff.unwrap_or(made.backoff);
        made.jitter = retry.jitter.unwrap_or(made.jitter);
        made.only_if = retry.only_if.as_deref().and_then(retry_if);
        policy.retry = made;
    }
    if let Some(timeout) = &settings.timeout {
        policy.timeout = Some(duration(timeout));
    }
    policy
}

pub(super) fn concurrency(settings: &SettingsDocument) -> Option<usize> {
    let limit = settings.concurrency?;
    Some(usize::try_from(limit).unwrap_or(usize::MAX))
}

/// A duration from a document that was read.
pub(super) fn duration(text: &str) -> Duration {
    match humantime::parse_duration(text) {
        Ok(duration) => duration,
        Err(error) => {
            unreachable!("the document was read, and `{text}` is not a duration: {error}")
        }
    }
}

/// The number of items in a part of a loop. `None` if all of them run in one place.
pub(super) fn spread(settings: &SettingsDocument) -> Option<u32> {
    let items = settings.spread?;
    Some(u32::try_from(items).unwrap_or(u32::MAX))
}
