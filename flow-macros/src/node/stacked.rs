//! Settings written as separate attributes, like decorators in other languages: `#[retry(attempts =
//! 3)]` below `#[node]`.

use flow_spec::Code;
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};

use crate::flow::printed::printed;
use crate::report::Report;

/// Settings that cannot be mistaken for other attributes.
const SETTINGS: [&str; 7] = [
    "retry", "timeout", "poll", "writes", "actions", "human", "signal",
];

/// The item without such attributes, which are reported: rustc would only report them as unknown.
pub(super) fn refuse(item: TokenStream, report: &mut Report) -> TokenStream {
    let mut rest = item.into_iter().peekable();
    let mut kept = Vec::new();
    while matches!(rest.peek(), Some(TokenTree::Punct(mark)) if mark.as_char() == '#') {
        let attribute: Vec<TokenTree> = rest.by_ref().take(2).collect();
        match attribute.get(1).and_then(setting) {
            Some((name, text)) => {
                let message =
                    format!("`{name}` is a setting of `#[node]`, and not an attribute by itself");
                let help = format!(
                    "write it between the parentheses: `#[node(…, {text})]`; an attribute of another crate is written with its \
                     path"
                );
                report.error(Code::Malformed, name.span(), message, help);
            }
            None => kept.extend(attribute),
        }
    }
    kept.into_iter().chain(rest).collect()
}

/// The setting in an attribute's brackets: its name and its whole text.
fn setting(attribute: &TokenTree) -> Option<(Ident, String)> {
    let TokenTree::Group(group) = attribute else {
        return None;
    };
    match group.stream().into_iter().next()? {
        TokenTree::Ident(name)
            if group.delimiter() == Delimiter::Bracket
                && SETTINGS.iter().any(|setting| name == setting) =>
        {
            Some((name, printed(group.stream())))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn settings_are_taken_out_and_other_attributes_stay() {
        let mut report = Report::default();
        let item = quote!(
            #[doc = "a"]
            #[retry(attempts = 3)]
            #[inline]
            #[test::retry]
            fn load() {}
        );
        let kept = refuse(item, &mut report);
        let expected = quote!(
            #[doc = "a"]
            #[inline]
            #[test::retry]
            fn load() {}
        );
        assert_eq!(kept.to_string(), expected.to_string());
        let said = report.into_tokens().to_string();
        assert!(said.contains("#[node(…, retry(attempts = 3))]"), "{said}");
    }
}
