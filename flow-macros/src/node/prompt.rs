//! The prompt of a human node: text in which each `{key}` stands for a value that the node reads.

use flow_spec::Code;
use proc_macro2::Ident;
use syn::LitStr;

use crate::names::{ident, is_name};
use crate::report::Report;

/// A parsed prompt.
#[derive(Default)]
pub(super) struct Prompt {
    /// The keys that it reads, each once.
    pub(super) keys: Vec<Ident>,
    /// The text for `format!`, with a number in place of each key.
    pub(super) format: String,
}

/// A mistake in a prompt, and its help.
struct Wrong {
    message: String,
    help: String,
}

impl Prompt {
    /// Parses a prompt. The first mistake is reported; the part before it is kept.
    pub(super) fn parse(literal: &LitStr, report: &mut Report) -> Self {
        let mut prompt = Prompt::default();
        let text = literal.value();
        if let Err(Wrong { message, help }) = prompt.read(&text, literal) {
            report.error(Code::Malformed, literal.span(), message, help);
        }
        prompt
    }

    fn read(&mut self, text: &str, literal: &LitStr) -> Result<(), Wrong> {
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            self.format.push_str(&rest[..at]);
            let braces = &rest[at..];
            if let Some(after) = ["{{", "}}"].iter().find_map(|two| braces.strip_prefix(two)) {
                self.format.push_str(&braces[..2]);
                rest = after;
                continue;
            }
            let Some(inner) = braces.strip_prefix('{') else {
                return Err(Wrong {
                    message: "this prompt has a `}` that closes nothing".to_owned(),
                    help: "write `}}` for a brace that is shown".to_owned(),
                });
            };
            let Some((key, after)) = inner.split_once('}').filter(|(key, _)| !key.contains('{'))
            else {
                return Err(Wrong {
                    message: "this prompt has a `{` that is not closed".to_owned(),
                    help: "write `{key}` for a value that the node reads, or `{{` for a brace that is shown"
                        .to_owned(),
                });
            };
            self.key(key, literal)?;
            rest = after;
        }
        self.format.push_str(rest);
        Ok(())
    }

    fn key(&mut self, written: &str, literal: &LitStr) -> Result<(), Wrong> {
        let name = written.strip_prefix("r#").unwrap_or(written);
        if !is_name(name) && !is_name(&format!("r#{name}")) {
            return Err(not_a_key(written));
        }
        let key = ident(name, literal.span());
        let index = self.keys.iter().position(|earlier| *earlier == key);
        let index = index.unwrap_or_else(|| {
            self.keys.push(key);
            self.keys.len() - 1
        });
        self.format.push_str(&format!("{{{index}}}"));
        Ok(())
    }
}

fn not_a_key(written: &str) -> Wrong {
    let trimmed = written.trim();
    let message = match trimmed {
        "" => "this prompt has braces that name no key".to_owned(),
        _ => format!("`{{{written}}}` in this prompt names no key"),
    };
    let name = trimmed.split(':').next().unwrap_or_default().trim();
    let help = match trimmed {
        "" => "name the key that is shown there, as in `{version}`, or write `{{}}` for braces that are shown"
            .to_owned(),
        _ if is_name(name) => {
            format!("write `{{{name}}}`: a value is shown as its `Display` says")
        }
        _ if let Some((_, field)) = name.rsplit_once('.').filter(|(_, field)| is_name(field)) => {
            format!("let a node write `{name}` under a key of its own, and name that: `{{{field}}}`")
        }
        _ => format!(
            "name one key, as in `{{version}}`, or write `{{{{{written}}}}}` for braces that are shown"
        ),
    };
    Wrong { message, help }
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;

    use super::*;

    #[test]
    fn keys_are_read_once_and_braces_shown() {
        let text = "{{a}} {version} of {r#type}, {version}{{{version}}} ü";
        let mut report = Report::default();
        let prompt = Prompt::parse(&LitStr::new(text, Span::call_site()), &mut report);
        assert!(report.is_empty());
        assert_eq!(prompt.format, "{{a}} {0} of {1}, {0}{{{0}}} ü");
        let keys: Vec<String> = prompt.keys.iter().map(Ident::to_string).collect();
        assert_eq!(keys, ["version", "r#type"]);
    }

    #[test]
    fn what_names_no_key_is_a_mistake() {
        for text in [
            "{}", "{ }", "{a", "a}", "{a b}", "{a:?}", "{0}", "{self}", "{a{b}", "{{a}", "{a.b}",
            "{\u{0}}",
        ] {
            let mut report = Report::default();
            Prompt::parse(&LitStr::new(text, Span::call_site()), &mut report);
            assert!(!report.is_empty(), "{text}");
        }
    }
}
