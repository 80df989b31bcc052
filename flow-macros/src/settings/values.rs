//! The values of settings: the `=` or the parentheses, and valid durations, numbers and texts.

use std::time::Duration;

use flow_spec::Code;
use proc_macro2::{Ident, Span};
use quote::quote;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Lit, LitStr, Token, token};

use crate::report::Report;

/// The name of a setting. `expected` is the error if there is none.
pub(crate) fn name(input: ParseStream<'_>, expected: &str) -> syn::Result<Ident> {
    if input.peek(Token![if]) {
        let text = "`if` is a setting of `retry`: `retry(attempts = 3, if = is_transient)`";
        return Err(input.error(text));
    }
    input
        .parse()
        .map_err(|error| syn::Error::new(error.span(), expected))
}

/// The `=` of a setting whose syntax is `example`.
pub(crate) fn equals(name: &Ident, input: ParseStream<'_>, example: &str) -> syn::Result<()> {
    if input.peek(Token![=]) {
        input.parse::<Token![=]>().map(drop)
    } else {
        Err(expected(name, example))
    }
}

/// Checks that parentheses follow, for a setting whose syntax is `example`.
pub(crate) fn parentheses(name: &Ident, input: ParseStream<'_>, example: &str) -> syn::Result<()> {
    if input.peek(token::Paren) {
        Ok(())
    } else {
        Err(expected(name, example))
    }
}

fn expected(name: &Ident, example: &str) -> syn::Error {
    syn::Error::new(name.span(), format!("this setting is written `{example}`"))
}

/// The comma after a setting, unless it is the last one. If another setting follows instead, the
/// missing comma is reported, and the settings that follow are read anyway.
pub(crate) fn comma(input: ParseStream<'_>, report: &mut Report) -> syn::Result<()> {
    if input.is_empty() {
        return Ok(());
    }
    if input.peek(Token![,]) {
        return input.parse::<Token![,]>().map(drop);
    }
    match input.fork().call(Ident::parse_any) {
        Ok(next) => {
            comma_missing(&next, report);
            Ok(())
        }
        Err(_) => Err(input.error("expected `,` or the end of the settings")),
    }
}

/// Reports the missing comma before this setting.
pub(crate) fn comma_missing(next: &Ident, report: &mut Report) {
    report.error(
        Code::Malformed,
        next.span(),
        format!("a comma is missing before `{next}`"),
        format!("settings are separated by commas: `, {next}`"),
    );
}

/// The value of a setting, such as `example`.
pub(crate) fn literal(input: ParseStream<'_>, example: &str) -> syn::Result<Lit> {
    input.parse().map_err(|error| {
        let text = format!(
            "expected the value itself, such as `{example}`: the macro cannot look into constants and calls"
        );
        syn::Error::new(error.span(), text)
    })
}

/// A duration such as `"200ms"`, greater than zero.
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

/// A text such as `200ms` as a duration greater than zero.
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
pub(super) fn count(literal: &Lit, what: &str, report: &mut Report) -> Option<u32> {
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

pub(super) fn number(
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
