//! The settings of a node, which have the same syntax in `#[node(…)]` and `with …`.

mod retry;
mod values;

use std::time::Duration;

use flow_spec::Code;
use flow_spec::document::SettingsDocument;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::parse::ParseStream;
use syn::{LitStr, Path, parenthesized};

use crate::editor;
use crate::names::composed;
use crate::report::Report;
use crate::runtime::Runtime;

use retry::{Retry, retry};
use values::count;

pub(crate) use retry::decides;
pub(crate) use values::{
    comma, comma_missing, duration, equals, literal, name, parentheses, parse_duration, text,
};

/// The settings that both a node and a flow can give.
#[derive(Default, Clone)]
pub(crate) struct Settings {
    pub(crate) retry: Option<(Span, Retry)>,
    pub(crate) timeout: Option<(Span, Duration)>,
    /// For a fork or a loop over items.
    pub(crate) concurrency: Option<(Span, usize)>,
    /// For a loop over items: the number of items of one part.
    pub(crate) spread: Option<(Span, u32)>,
    /// For a loop over items.
    pub(crate) collect_errors: Option<Span>,
    /// The node that takes back one visit.
    pub(crate) undo: Option<(Span, Path)>,
    /// The name of the node in an earlier version of the flow.
    pub(crate) was: Option<(Span, LitStr)>,
}

/// The place of settings, which decides the errors that the function of `retry(…, if = …)` gets.
#[derive(Clone, Copy)]
pub(crate) enum GivenBy {
    /// In `#[node(…)]`: the errors that the node returns.
    Node,
    /// In a flow, after `with`: errors of the type `NodeError`.
    Flow,
}

/// The names of [`Settings`].
pub(crate) const SETTINGS: [&str; 7] = [
    "retry",
    "timeout",
    "concurrency",
    "spread",
    "collect_errors",
    "undo",
    "was",
];

/// The names of the settings that only `#[node(…)]` has.
pub(crate) const OF_NODES: [&str; 11] = [
    "actions",
    "writes",
    "human",
    "signal",
    "poll",
    "blocking",
    "transaction",
    "title",
    "icon",
    "group",
    "tags",
];

impl Settings {
    /// Parses the setting whose name was just parsed, if it is one of [`SETTINGS`].
    pub(crate) fn parse(
        &mut self,
        name: &Ident,
        input: ParseStream<'_>,
        report: &mut Report,
    ) -> syn::Result<bool> {
        let span = name.span();
        let again = match name.to_string().as_str() {
            "retry" => self
                .retry
                .replace((span, retry(name, input, report)?))
                .is_some(),
            "timeout" => {
                equals(name, input, "timeout = \"30s\"")?;
                let timeout = duration(&literal(input, "\"30s\"")?, report);
                timeout.is_some_and(|timeout| self.timeout.replace((span, timeout)).is_some())
            }
            "concurrency" => {
                let count = in_parentheses(name, "4", input, report)?;
                count
                    .is_some_and(|count| self.concurrency.replace((span, count as usize)).is_some())
            }
            "spread" => {
                let count = in_parentheses(name, "16", input, report)?;
                count.is_some_and(|count| self.spread.replace((span, count)).is_some())
            }
            "collect_errors" => self.collect_errors.replace(span).is_some(),
            "undo" => {
                equals(name, input, "undo = refund")?;
                let path = input.call(Path::parse_mod_style).map_err(|error| {
                    let text = "expected the node that takes back one visit: `undo = refund`";
                    syn::Error::new(error.span(), text)
                })?;
                self.undo.replace((span, path)).is_some()
            }
            "was" => {
                equals(name, input, "was = \"quote\"")?;
                let was: LitStr = input.parse().map_err(|error| {
                    let text = "expected the name that the node had, as text: `was = \"quote\"`";
                    syn::Error::new(error.span(), text)
                })?;
                self.was.replace((span, composed(was))).is_some()
            }
            _ => return Ok(false),
        };
        if again {
            report.error(
                Code::Name,
                span,
                format!("`{name}` is given twice"),
                "remove one of them",
            );
        }
        Ok(true)
    }

    /// The settings of a loop's body for the items of the loop, whose own settings replace them.
    pub(crate) fn for_items_of(self, each: &Settings) -> Settings {
        Settings {
            retry: each.retry.clone().or(self.retry),
            timeout: each.timeout.or(self.timeout),
            ..self
        }
    }

    /// Returns true if there can be a second attempt.
    pub(crate) fn repeats(&self) -> bool {
        self.retry
            .as_ref()
            .is_some_and(|(_, retry)| retry.repeats())
    }

    /// Returns true if there is a pause before the second attempt.
    pub(crate) fn waits(&self) -> bool {
        let retry = self.retry.as_ref();
        retry.is_some_and(|(_, retry)| retry.repeats() && retry.waits())
    }

    /// The settings in the flow's JSON, where they replace those of `base`.
    pub(crate) fn document(&self, base: SettingsDocument) -> SettingsDocument {
        let retry = self.retry.as_ref().map(|(_, retry)| retry.document());
        let timeout = self.timeout.map(|(_, timeout)| duration_text(timeout));
        let concurrency = self.concurrency.map(|(_, count)| count as u64);
        SettingsDocument {
            retry: retry.or(base.retry),
            timeout: timeout.or(base.timeout),
            concurrency: concurrency.or(base.concurrency),
            spread: self.spread.map(|(_, items)| items.into()).or(base.spread),
            collect_errors: self.collect_errors.is_some() || base.collect_errors,
            ..base
        }
    }

    /// The function that decides if another attempt follows a failure.
    pub(crate) fn only_if(&self) -> Option<&Path> {
        let (_, retry) = self.retry.as_ref()?;
        retry.only_if.as_ref()
    }

    /// The statement that leads an editor from the name of that function to its definition. `None`
    /// for rustc.
    pub(crate) fn mention(&self) -> Option<TokenStream> {
        let path = self.only_if().filter(|_| editor::expands())?;
        Some(quote!(let _ = #path;))
    }

    /// The policy that results from `base` with these settings.
    pub(crate) fn policy(
        &self,
        base: &TokenStream,
        given_by: GivenBy,
        runtime: &Runtime,
    ) -> TokenStream {
        let (rt, mut policy) = (runtime.hidden(), base.clone());
        if let Some((_, retry)) = &self.retry {
            let retry = retry.tokens(given_by, runtime);
            policy = quote!(#rt::Policy::with_retry(#policy, #retry));
        }
        if let Some((_, timeout)) = self.timeout {
            let timeout = duration_tokens(timeout);
            policy = quote!(#rt::Policy::with_timeout(#policy, #timeout));
        }
        policy
    }
}

/// The count of a setting such as `concurrency(4)`, whose name was just parsed.
fn in_parentheses(
    name: &Ident,
    example: &str,
    input: ParseStream<'_>,
    report: &mut Report,
) -> syn::Result<Option<u32>> {
    parentheses(name, input, &format!("{name}({example})"))?;
    let content;
    parenthesized!(content in input);
    Ok(count(
        &literal(&content, example)?,
        &name.to_string(),
        report,
    ))
}

/// A duration as the language spells it: `1m 30s`. Days and longer units are not used, because
/// tools differ in the length of a month.
pub(crate) fn duration_text(duration: Duration) -> String {
    let (seconds, nanos) = (duration.as_secs(), u64::from(duration.subsec_nanos()));
    let parts = [
        (seconds / 3600, "h"),
        (seconds / 60 % 60, "m"),
        (seconds % 60, "s"),
        (nanos / 1_000_000, "ms"),
        (nanos / 1_000 % 1_000, "us"),
        (nanos % 1_000, "ns"),
    ];
    let written = parts.into_iter().filter(|(count, _)| *count > 0);
    let written: Vec<String> = written
        .map(|(count, unit)| format!("{count}{unit}"))
        .collect();
    written.join(" ")
}

pub(crate) fn duration_tokens(duration: Duration) -> TokenStream {
    let (secs, nanos) = (duration.as_secs(), duration.subsec_nanos());
    quote!(::core::time::Duration::new(#secs, #nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_as_they_are_read() {
        for text in [
            "200ms",
            "1m 30s",
            "744h",
            "1000000h",
            "1h 1m 1s 1ms 1us 1ns",
            "30s",
        ] {
            let duration = humantime::parse_duration(text).unwrap();
            assert_eq!(duration_text(duration), text);
        }
    }
}
