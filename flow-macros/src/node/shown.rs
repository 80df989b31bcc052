//! The appearance of a node in viewers: `title`, `icon`, `group` and `tags` of `#[node(…)]`.

use flow_spec::{Code, deceptive};
use proc_macro2::Ident;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{LitStr, Token, parenthesized};

use crate::report::Report;
use crate::settings::{equals, parentheses};

/// The maximum number of characters of a text, so that it fits into a box of a picture.
const LONGEST: usize = 100;

/// Parses `= "…"` into its place. Returns true if it was already set.
pub(super) fn text(
    place: &mut Option<String>,
    name: &Ident,
    input: ParseStream<'_>,
    report: &mut Report,
) -> syn::Result<bool> {
    equals(name, input, &format!("{name} = \"…\""))?;
    let text = quoted(input)?;
    check(&text, &name.to_string(), report);
    Ok(place.replace(text.value()).is_some())
}

/// `("…", "…")`
pub(super) fn tags(
    name: &Ident,
    input: ParseStream<'_>,
    report: &mut Report,
) -> syn::Result<Vec<String>> {
    parentheses(name, input, "tags(\"urgent\", \"money\")")?;
    let content;
    parenthesized!(content in input);
    let texts = Punctuated::<LitStr, Token![,]>::parse_terminated_with(&content, quoted)?;
    if texts.is_empty() {
        let help = "name the tags, or remove this";
        report.error(Code::Malformed, name.span(), "`tags` names no tag", help);
    }
    let mut tags: Vec<String> = Vec::new();
    for text in &texts {
        check(text, "tag", report);
        let tag = text.value();
        if tags.contains(&tag) {
            let message = format!("the tag {tag:?} is given twice");
            report.error(Code::Name, text.span(), message, "remove one of them");
        }
        tags.push(tag);
    }
    Ok(tags)
}

fn quoted(input: ParseStream<'_>) -> syn::Result<LitStr> {
    let expected = |error: syn::Error| syn::Error::new(error.span(), "expected a text in quotes");
    input.parse().map_err(expected)
}

/// Reports a text that is empty, too long, or can be mistaken for another one.
fn check(literal: &LitStr, what: &str, report: &mut Report) {
    let text = literal.value();
    let (message, help) = if text.trim().is_empty() {
        let help = "write what people should see, or remove this".to_owned();
        (format!("this {what} is empty"), help)
    } else if let Some((letter, _)) = deceptive(&text).find(|(_, deceives)| *deceives) {
        let help = "remove it, so that people see what is there".to_owned();
        let letter = letter.escape_default();
        (
            format!("this {what} contains the invisible character `{letter}`"),
            help,
        )
    } else if text.chars().count() > LONGEST {
        let help = format!(
            "write at most {LONGEST} characters; what the node does belongs in its doc comment"
        );
        (
            format!("this {what} has {} characters", text.chars().count()),
            help,
        )
    } else {
        return;
    };
    report.error(Code::Malformed, literal.span(), message, help);
}
