//! The settings of a node, as `#[node(…)]` and `with …` spell them alike.

use std::time::Duration;

use flow_spec::{Code, did_you_mean};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::parse::ParseStream;
use syn::{Lit, LitStr, Token, parenthesized, token};

use crate::protocol::runtime;
use crate::report::Report;

/// The settings that a node and a flow can both give.
#[derive(Default, Clone)]
pub(crate) struct Settings {
    pub(crate) retry: Option<(Span, Retry)>,
    pub(crate) timeout: Option<(Span, Duration)>,
    /// Of a fork or a loop over items.
    pub(crate) concurrency: Option<(Span, usize)>,
    /// Of a loop over items.
    pub(crate) collect_errors: Option<Span>,
}

#[derive(Clone)]
pub(crate) struct Retry {
    attempts: u32,
    wait: Duration,
    backoff: f64,
    max_wait: Duration,
    jitter: f64,
}

/// The names of [`Settings`].
pub(crate) const SETTINGS: [&str; 4] = ["retry", "timeout", "concurrency", "collect_errors"];

impl Retry {
    /// Whether it makes a second attempt at all.
    pub(crate) fn repeats(&self) -> bool {
        self.attempts > 1
    }
}

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
                let timeout = duration(&literal(input)?, report);
                timeout.is_some_and(|timeout| self.timeout.replace((span, timeout)).is_some())
            }
            "concurrency" => {
                parentheses(name, input, "concurrency(4)")?;
                let content;
                parenthesized!(content in input);
                let count = count(&literal(&content)?, "concurrency", report);
                count
                    .is_some_and(|count| self.concurrency.replace((span, count as usize)).is_some())
            }
            "collect_errors" => self.collect_errors.replace(span).is_some(),
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

    /// The policy that they make of `base`.
    pub(crate) fn policy(&self, base: &TokenStream) -> TokenStream {
        let rt = runtime();
        let retry = self.retry.as_ref().map(|(_, retry)| {
            let Retry {
                attempts,
                wait,
                backoff,
                max_wait,
                jitter,
            } = retry;
            let (wait, max_wait) = (duration_tokens(*wait), duration_tokens(*max_wait));
            quote!(.with_retry(#rt::retry(#attempts, #wait, #backoff, #max_wait, #jitter)))
        });
        let timeout = self.timeout.map(|(_, timeout)| {
            let timeout = duration_tokens(timeout);
            quote!(.with_timeout(#timeout))
        });
        quote!(#base #retry #timeout)
    }
}

pub(crate) fn duration_tokens(duration: Duration) -> TokenStream {
    let (secs, nanos) = (duration.as_secs(), duration.subsec_nanos());
    quote!(::core::time::Duration::new(#secs, #nanos))
}

/// `(attempts = 3, wait = "200ms", backoff = 2.0, max_wait = "10s", jitter = 0.5)`
fn retry(name: &Ident, input: ParseStream<'_>, report: &mut Report) -> syn::Result<Retry> {
    let span = name.span();
    parentheses(name, input, "retry(attempts = 3)")?;
    let content;
    parenthesized!(content in input);
    let mut retry = Retry {
        attempts: 1,
        wait: Duration::ZERO,
        backoff: 1.0,
        max_wait: Duration::MAX,
        jitter: 0.0,
    };
    let mut given: Vec<Ident> = Vec::new();
    let mut unknown_given = false;
    while !content.is_empty() {
        let name: Ident = content.parse().map_err(|error| {
            let text = "expected a setting of `retry`, such as `attempts = 3`";
            syn::Error::new(error.span(), text)
        })?;
        if given.contains(&name) {
            report.error(
                Code::Name,
                name.span(),
                format!("`{name}` is given twice"),
                "remove one of them",
            );
        }
        equals(&name, &content, &format!("{name} = …"))?;
        let value = literal(&content)?;
        match name.to_string().as_str() {
            "attempts" => retry.attempts = count(&value, "attempts", report).unwrap_or(1),
            "wait" => retry.wait = duration(&value, report).unwrap_or_default(),
            "max_wait" => retry.max_wait = duration(&value, report).unwrap_or(Duration::MAX),
            "backoff" => {
                retry.backoff = number(&value, "backoff", 1.0..=f64::MAX, report).unwrap_or(1.0)
            }
            "jitter" => retry.jitter = number(&value, "jitter", 0.0..=1.0, report).unwrap_or(0.0),
            unknown => {
                let names = ["attempts", "wait", "backoff", "max_wait", "jitter"];
                let help = did_you_mean(unknown, names)
                    .unwrap_or_default()
                    .replace('"', "`");
                unknown_given = true;
                report.error(
                    Code::NamesNothing,
                    name.span(),
                    format!("`retry` has no setting `{unknown}`"),
                    help,
                );
            }
        }
        given.push(name);
        if !content.is_empty() {
            content.parse::<Token![,]>()?;
        }
    }
    let given_as = |wanted: &str| given.iter().find(|name| *name == wanted);
    if given_as("attempts").is_none() && !unknown_given {
        let help = "say how many there are in all, the first included: `retry(attempts = 3)`";
        report.error(
            Code::Malformed,
            span,
            "`retry` does not say how many attempts",
            help,
        );
    }
    for dependent in ["backoff", "max_wait", "jitter"] {
        if let (Some(name), None, false) = (given_as(dependent), given_as("wait"), unknown_given) {
            let message =
                format!("`{dependent}` changes the wait between attempts, and there is none");
            report.error(
                Code::Malformed,
                name.span(),
                message,
                "add `wait = \"200ms\"`",
            );
        }
    }
    if let (Some(name), true) = (given_as("max_wait"), retry.max_wait < retry.wait) {
        let message = "`max_wait` is shorter than `wait`";
        report.error(
            Code::Malformed,
            name.span(),
            message,
            "it is the longest that the wait can grow to",
        );
    }
    Ok(retry)
}

/// The `=` of a setting that is written as `example`.
pub(crate) fn equals(name: &Ident, input: ParseStream<'_>, example: &str) -> syn::Result<()> {
    match input.peek(Token![=]) {
        true => input.parse::<Token![=]>().map(drop),
        false => Err(expected(name, example)),
    }
}

/// Whether the parentheses follow of a setting that is written as `example`.
pub(crate) fn parentheses(name: &Ident, input: ParseStream<'_>, example: &str) -> syn::Result<()> {
    match input.peek(token::Paren) {
        true => Ok(()),
        false => Err(expected(name, example)),
    }
}

fn expected(name: &Ident, example: &str) -> syn::Error {
    syn::Error::new(name.span(), format!("this setting is written `{example}`"))
}

/// The value of a setting.
pub(crate) fn literal(input: ParseStream<'_>) -> syn::Result<Lit> {
    input.parse().map_err(|error| {
        let text = "expected a number, or a text in quotes: what a setting says is known when the program is compiled";
        syn::Error::new(error.span(), text)
    })
}

/// A duration such as `"200ms"`, more than zero.
pub(crate) fn duration(literal: &Lit, report: &mut Report) -> Option<Duration> {
    const HELP: &str = "write a number and a unit, such as \"200ms\", \"30s\", \"5m\" or \"1h\"";
    let Lit::Str(text) = literal else {
        report.error(
            Code::Malformed,
            literal.span(),
            "a duration is written as text",
            HELP,
        );
        return None;
    };
    parse_duration(&text.value(), text.span(), report)
}

/// Text such as `200ms`, as a duration of more than zero.
pub(crate) fn parse_duration(text: &str, span: Span, report: &mut Report) -> Option<Duration> {
    const HELP: &str = "write a number and a unit, such as `200ms`, `30s`, `5m` or `1h`";
    match humantime::parse_duration(text) {
        Ok(Duration::ZERO) => {
            report.error(
                Code::Malformed,
                span,
                "this duration is zero",
                "leave it out, or give it a length",
            );
            None
        }
        Ok(duration) => Some(duration),
        Err(_) => {
            report.error(
                Code::Malformed,
                span,
                format!("`{text}` is not a duration"),
                HELP,
            );
            None
        }
    }
}

/// A whole number of at least 1.
fn count(literal: &Lit, what: &str, report: &mut Report) -> Option<u32> {
    let count = match literal {
        Lit::Int(int) => int.base10_parse::<u32>().ok(),
        _ => None,
    };
    match count {
        Some(0) => {
            let help = match what {
                "attempts" => {
                    "it counts every attempt, the first included: `attempts = 1` means no retry"
                }
                _ => "write at least 1",
            };
            report.error(
                Code::Malformed,
                literal.span(),
                format!("`{what}` is zero, so nothing would run"),
                help,
            );
            None
        }
        Some(count) => Some(count),
        None => {
            let message = format!("`{what}` is a whole number");
            report.error(
                Code::Malformed,
                literal.span(),
                message,
                "write at least 1 and at most 4294967295",
            );
            None
        }
    }
}

fn number(
    literal: &Lit,
    what: &str,
    range: std::ops::RangeInclusive<f64>,
    report: &mut Report,
) -> Option<f64> {
    let number = match literal {
        Lit::Float(float) => float.base10_parse::<f64>().ok(),
        Lit::Int(int) => int.base10_parse::<f64>().ok(),
        _ => None,
    };
    let number = number.filter(|number| range.contains(number));
    if number.is_none() {
        let help = match what {
            "backoff" => {
                "it is the factor by which the wait grows: at least 1.0, such as `backoff = 2.0`"
            }
            _ => {
                "it is the part of the wait that is left to chance: from 0.0 to 1.0, such as `jitter = 0.5`"
            }
        };
        report.error(
            Code::Malformed,
            literal.span(),
            format!("`{}` is not a `{what}`", quote!(#literal)),
            help,
        );
    }
    number
}

/// A text that is not empty.
pub(crate) fn text(literal: &LitStr, what: &str, report: &mut Report) {
    if literal.value().trim().is_empty() {
        report.error(
            Code::Malformed,
            literal.span(),
            format!("this {what} is empty"),
            "write what it should say",
        );
    }
}
