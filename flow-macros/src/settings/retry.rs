//! The setting `retry`.

use std::time::Duration;

use flow_spec::document::RetrySettings;
use flow_spec::{Code, did_you_mean};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative as _;
use syn::spanned::Spanned as _;
use syn::{ExprPath, Lit, Path, Token, parenthesized};

use crate::names::{here, path_text};
use crate::report::Report;
use crate::runtime::Runtime;

use super::values::{comma, count, duration, equals, literal, number, parentheses};
use super::{GivenBy, duration_text, duration_tokens};

/// The names of the settings.
const NAMES: [&str; 6] = ["attempts", "wait", "backoff", "max_wait", "jitter", "if"];

#[derive(Clone)]
pub(crate) struct Retry {
    attempts: u32,
    wait: Duration,
    backoff: f64,
    max_wait: Duration,
    jitter: f64,
    /// `if`: the function that decides if another attempt follows a failure.
    pub(crate) only_if: Option<Path>,
}

impl Retry {
    /// A value of a setting of `retry`.
    fn example(name: &Ident) -> &'static str {
        match name.to_string().as_str() {
            "attempts" => "3",
            "backoff" => "2.0",
            "jitter" => "0.5",
            "if" => "is_transient",
            _ => "\"200ms\"",
        }
    }

    /// Returns true if it makes a second attempt at all.
    pub(crate) fn repeats(&self) -> bool {
        self.attempts > 1
    }

    /// Returns true if it pauses between two attempts.
    pub(crate) fn waits(&self) -> bool {
        !self.wait.is_zero()
    }

    /// The settings in the flow's JSON: those that differ from the defaults.
    pub(crate) fn document(&self) -> RetrySettings {
        RetrySettings {
            attempts: self.attempts,
            wait: (!self.wait.is_zero()).then(|| duration_text(self.wait)),
            backoff: (self.backoff != 1.0).then_some(self.backoff),
            max_wait: (self.max_wait != Duration::MAX).then(|| duration_text(self.max_wait)),
            jitter: (self.jitter != 0.0).then_some(self.jitter),
            only_if: self.only_if.as_ref().map(path_text),
        }
    }

    /// Checks the settings together.
    fn check(&self, span: Span, given: &[Ident], wrong_given: bool, report: &mut Report) {
        let given_as = |wanted: &str| given.iter().find(|name| *name == wanted);
        let attempts_given = given_as("attempts").is_some() && !wrong_given;
        if given_as("attempts").is_none() && !wrong_given {
            let help = "say how many there are in all, the first included: `retry(attempts = 3)`";
            report.error(
                Code::Malformed,
                span,
                "`retry` does not say how many attempts",
                help,
            );
        }
        for dependent in ["backoff", "max_wait", "jitter"] {
            if let (Some(name), None, false) = (given_as(dependent), given_as("wait"), wrong_given)
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
        if let (Some(name), true, 1) = (given_as("if"), attempts_given, self.attempts) {
            let message = "`if` decides whether another attempt follows, and there is only one";
            let help = "raise `attempts`, or remove `if`";
            report.error(Code::Malformed, name.span(), message, help);
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

    /// The expression of the retry.
    pub(super) fn tokens(&self, given_by: GivenBy, runtime: &Runtime) -> TokenStream {
        let rt = runtime.hidden();
        let Retry {
            attempts,
            wait,
            backoff,
            max_wait,
            jitter,
            only_if,
        } = self;
        let only_if = only_if.as_ref().map(|path| {
            let decides = match given_by {
                GivenBy::Node => quote!(OfNode),
                GivenBy::Flow => {
                    let site = here(path.span());
                    let runtime = runtime.root_at(site);
                    let error = quote_spanned!(site=> #runtime::bounds::GetsNodeError::of(__error));
                    let decides = decides(path, &error);
                    quote!(OfFlow(#decides))
                }
            };
            quote!(#rt::RetryIf::#decides)
        });
        let (wait, max_wait) = (duration_tokens(*wait), duration_tokens(*max_wait));
        let retry = quote!(#rt::retry(#attempts, #wait, #backoff, #max_wait, #jitter));
        match only_if {
            Some(only_if) => quote!(#rt::Retry::only_if(#retry, #only_if)),
            None => retry,
        }
    }

    /// Sets a setting that is a number or a duration. Returns false if there is none with this
    /// name, or if the number of attempts is wrong. Both are reported.
    fn set(&mut self, name: &Ident, value: &Lit, report: &mut Report) -> bool {
        match name.to_string().as_str() {
            "attempts" => match count(value, "attempts", report) {
                Some(attempts) => self.attempts = attempts,
                None => return false,
            },
            "wait" => self.wait = duration(value, report).unwrap_or_default(),
            "max_wait" => self.max_wait = duration(value, report).unwrap_or(Duration::MAX),
            "backoff" => {
                self.backoff = number(value, "backoff", 1.0..=f64::MAX, report).unwrap_or(1.0);
            }
            "jitter" => self.jitter = number(value, "jitter", 0.0..=1.0, report).unwrap_or(0.0),
            unknown => {
                let help = did_you_mean(unknown, NAMES).unwrap_or_default();
                let message = format!("`retry` has no setting `{unknown}`");
                report.error(Code::NamesNothing, name.span(), message, help);
                return false;
            }
        }
        true
    }
}

/// The closure that calls the function of `if` with `error`, which uses `__error`: a call also
/// turns `&String` into `&str` and similar. The function is named separately, because rustc would
/// suggest corrections to a call that nobody wrote.
pub(crate) fn decides(path: &Path, error: &TokenStream) -> TokenStream {
    let site = here(path.span());
    quote_spanned!(site=> |__error| {
        let __decides: fn(_) -> _ = #path;
        __decides(#error)
    })
}

/// The path after `if =`.
fn function(input: ParseStream<'_>) -> syn::Result<Path> {
    let ahead = input.fork();
    let path = ahead.parse::<ExprPath>();
    let is_alone = ahead.is_empty() || ahead.peek(Token![,]);
    let Some(path) = path.ok().filter(|path| is_alone && path.qself.is_none()) else {
        let text = "expected the name of a function that gets the error and returns a `bool`, such as `if = is_transient`";
        return Err(input.error(text));
    };
    // syn takes it for a name, as in the first edition of Rust.
    let mut names = path.path.segments.iter().map(|segment| &segment.ident);
    if let Some(word) = names.find(|name| *name == "try") {
        let text = "`try` is a word of Rust and names no function";
        return Err(syn::Error::new(word.span(), text));
    }
    input.advance_to(&ahead);
    Ok(path.path)
}

/// `(attempts = 3, wait = "200ms", backoff = 2.0, max_wait = "10s", jitter = 0.5, if = is_busy)`
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
        only_if: None,
    };
    let mut given: Vec<Ident> = Vec::new();
    let mut wrong_given = false;
    while !content.is_empty() {
        let name = content.call(Ident::parse_any).map_err(|error| {
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
        let example = Retry::example(&name);
        equals(&name, &content, &format!("{name} = {example}"))?;
        if name == "if" {
            retry.only_if = Some(function(&content)?);
        } else {
            let value = literal(&content, example)?;
            wrong_given |= !retry.set(&name, &value, report);
        }
        given.push(name);
        comma(&content, report)?;
    }
    retry.check(span, &given, wrong_given, report);
    Ok(retry)
}
