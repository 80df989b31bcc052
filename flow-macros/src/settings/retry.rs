//! The setting `retry`.

use std::time::Duration;

use flow_spec::document::RetrySettings;
use flow_spec::{Code, did_you_mean};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::parse::ParseStream;
use syn::{Lit, Token, parenthesized};

use crate::report::Report;
use crate::runtime::runtime;

use super::values::{count, duration, equals, literal, number, parentheses};
use super::{duration_text, duration_tokens};

#[derive(Clone)]
pub(crate) struct Retry {
    attempts: u32,
    wait: Duration,
    backoff: f64,
    max_wait: Duration,
    jitter: f64,
}

impl Retry {
    /// A value of a setting of `retry`.
    fn example(name: &Ident) -> &'static str {
        match name.to_string().as_str() {
            "attempts" => "3",
            "backoff" => "2.0",
            "jitter" => "0.5",
            _ => "\"200ms\"",
        }
    }

    /// Returns true if it makes a second attempt at all.
    pub(crate) fn repeats(&self) -> bool {
        self.attempts > 1
    }

    /// The settings in the flow's JSON: those that differ from the defaults.
    pub(crate) fn document(&self) -> RetrySettings {
        RetrySettings {
            attempts: self.attempts,
            wait: (!self.wait.is_zero()).then(|| duration_text(self.wait)),
            backoff: (self.backoff != 1.0).then_some(self.backoff),
            max_wait: (self.max_wait != Duration::MAX).then(|| duration_text(self.max_wait)),
            jitter: (self.jitter != 0.0).then_some(self.jitter),
        }
    }

    /// Checks the settings together.
    fn check(&self, span: Span, given: &[Ident], unknown_given: bool, report: &mut Report) {
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
            if let (Some(name), None, false) =
                (given_as(dependent), given_as("wait"), unknown_given)
            {
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
        if let (Some(name), true) = (given_as("max_wait"), self.max_wait < self.wait) {
            let message = "`max_wait` is shorter than `wait`";
            report.error(
                Code::Malformed,
                name.span(),
                message,
                "it is the longest that the wait can grow to",
            );
        }
    }

    /// The call that creates the policy.
    pub(super) fn tokens(&self) -> TokenStream {
        let rt = runtime();
        let Retry {
            attempts,
            wait,
            backoff,
            max_wait,
            jitter,
        } = self;
        let (wait, max_wait) = (duration_tokens(*wait), duration_tokens(*max_wait));
        quote!(.with_retry(#rt::retry(#attempts, #wait, #backoff, #max_wait, #jitter)))
    }

    /// Sets one of the settings. Returns false if there is none with this name, which is reported.
    fn set(&mut self, name: &Ident, value: &Lit, report: &mut Report) -> bool {
        match name.to_string().as_str() {
            "attempts" => self.attempts = count(value, "attempts", report).unwrap_or(1),
            "wait" => self.wait = duration(value, report).unwrap_or_default(),
            "max_wait" => self.max_wait = duration(value, report).unwrap_or(Duration::MAX),
            "backoff" => {
                self.backoff = number(value, "backoff", 1.0..=f64::MAX, report).unwrap_or(1.0);
            }
            "jitter" => self.jitter = number(value, "jitter", 0.0..=1.0, report).unwrap_or(0.0),
            unknown => {
                let names = ["attempts", "wait", "backoff", "max_wait", "jitter"];
                let help = did_you_mean(unknown, names).unwrap_or_default();
                let message = format!("`retry` has no setting `{unknown}`");
                report.error(Code::NamesNothing, name.span(), message, help);
                return false;
            }
        }
        true
    }
}

/// `(attempts = 3, wait = "200ms", backoff = 2.0, max_wait = "10s", jitter = 0.5)`
pub(super) fn retry(
    name: &Ident,
    input: ParseStream<'_>,
    report: &mut Report,
) -> syn::Result<Retry> {
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
        unknown_given |= !retry.set(&name, &literal(&content, Retry::example(&name))?, report);
        given.push(name);
        if !content.is_empty() {
            content.parse::<Token![,]>()?;
        }
    }
    retry.check(span, &given, unknown_given, report);
    Ok(retry)
}
