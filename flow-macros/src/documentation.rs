//! Doc comments, including those from macros of std: `#[doc = include_str!("node.md")]`.
//!
//! rustc expands such a macro after we read it, so its text is determined here. rustc reads the
//! file as well: it reports a missing file, and rebuilds after a change.

use flow_spec::Code;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, ExprLit, ExprMacro, Lit, Meta, Token};

use crate::editor;
use crate::report::Report;

/// The doc comment among these attributes as readers see it: without the space after each `///`.
pub(crate) fn documentation(attributes: &[Attribute]) -> Option<String> {
    let texts: Vec<String> = values(attributes)
        .filter_map(|value| match text(value) {
            Text::Known(text) => Some(text),
            Text::OfRustc | Text::Unknown => None,
        })
        .collect();
    let lines = texts.iter().flat_map(|text| text.split('\n'));
    let lines: Vec<&str> = lines
        .map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end())
        .collect();
    let text = lines.join("\n");
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Reports documentation that only rustc can read: the flow's JSON would lack it.
pub(crate) fn refuse_unknown(attributes: &[Attribute], report: &mut Report) {
    for value in values(attributes) {
        if matches!(text(value), Text::Unknown) && !editor::expands() {
            let message = "this documentation cannot be read here, and the flow's JSON shows it";
            let help = "write it as text, as `include_str!(\"…\")`, or as `concat!(…)` of these";
            report.error(Code::Malformed, value.span(), message, help);
        }
    }
}

/// The values of `#[doc = …]`.
fn values(attributes: &[Attribute]) -> impl Iterator<Item = &Expr> {
    attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(meta) if meta.path.is_ident("doc") => Some(&meta.value),
            _ => None,
        })
}

/// The text of an expression.
enum Text {
    Known(String),
    /// rustc reports what is wrong with it.
    OfRustc,
    Unknown,
}

fn text(value: &Expr) -> Text {
    match value {
        Expr::Lit(ExprLit { lit, .. }) => literal(lit),
        Expr::Macro(call) => expanded(call),
        Expr::Paren(inner) => text(&inner.expr),
        _ => Text::Unknown,
    }
}

fn literal(literal: &Lit) -> Text {
    match literal {
        Lit::Str(text) => Text::Known(text.value()),
        Lit::Char(letter) => Text::Known(letter.value().to_string()),
        Lit::Bool(value) => Text::Known(value.value.to_string()),
        Lit::Int(number) => Text::Known(number.base10_digits().to_owned()),
        Lit::Float(number) => Text::Known(number.base10_digits().to_owned()),
        _ => Text::OfRustc,
    }
}

/// The text that a macro of std produces.
fn expanded(call: &ExprMacro) -> Text {
    let Some(name) = call.mac.path.segments.last() else {
        return Text::Unknown;
    };
    let arguments = call
        .mac
        .parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
    let Ok(arguments) = arguments else {
        return Text::Unknown;
    };
    let mut texts = Vec::new();
    for argument in &arguments {
        match text(argument) {
            Text::Known(text) => texts.push(text),
            other => return other,
        }
    }
    match (name.ident.to_string().as_str(), &texts[..]) {
        ("concat", texts) => Text::Known(texts.concat()),
        ("env", [name, ..]) => std::env::var(name).map_or(Text::OfRustc, Text::Known),
        ("include_str", [path]) => {
            // The path is relative to the file with the call.
            let Some(file) = name.ident.span().local_file() else {
                return Text::Unknown;
            };
            let path = file.parent().map(|folder| folder.join(path));
            let read = path.and_then(|path| std::fs::read_to_string(path).ok());
            read.map_or(Text::OfRustc, Text::Known)
        }
        _ => Text::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn macros_of_std_are_read() {
        let attributes: [Attribute; 3] = [
            parse_quote!(#[doc = " a "]),
            parse_quote!(#[doc = concat!("b", 1, '-', true, concat!("c", 2.5))]),
            parse_quote!(#[doc = std::concat!(" d\n e")]),
        ];
        assert_eq!(
            documentation(&attributes).as_deref(),
            Some("a\nb1-truec2.5\nd\ne")
        );
        let mut report = Report::default();
        refuse_unknown(&attributes, &mut report);
        assert!(report.is_empty());
    }

    #[test]
    fn other_macros_are_refused() {
        for value in ["text!()", "concat!(\"a\", text!())", "TEXT"] {
            let value: Expr = syn::parse_str(value).expect("an expression");
            let attribute: Attribute = parse_quote!(#[doc = #value]);
            let mut report = Report::default();
            refuse_unknown(&[attribute], &mut report);
            assert!(!report.is_empty());
        }
    }
}
