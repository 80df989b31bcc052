//! The settings of `#[node(…)]`.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use flow_spec::document::{PollSettings, SettingsDocument};
use flow_spec::{Code, did_you_mean};
use proc_macro2::{Ident, Span, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{LitStr, Path, Token, parenthesized, token};

use crate::contract::{About, Shown};
use crate::names::{keyword_in, path_text};
use crate::report::Report;
use crate::runtime::{self, Runtime};
use crate::settings::{
    self, OF_NODES, SETTINGS, Settings, comma, duration, duration_text, equals, literal,
    parentheses,
};

use super::outcome::Returned;
use super::shown;

/// The settings of a node.
#[derive(Default)]
pub(super) struct NodeAttribute {
    pub(super) settings: Settings,
    /// `actions = Verdict`
    pub(super) actions: Option<Path>,
    /// `writes = key` or `writes(a, +b)`
    pub(super) writes: Option<Vec<WrittenKey>>,
    /// `poll(every = "1s", timeout = "1h")`
    pub(super) poll: Option<Poll>,
    /// `blocking`
    pub(super) blocking: Option<Span>,
    /// `transaction`
    pub(super) transaction: Option<Span>,
    /// `human = "Deploy?"`
    pub(super) human: Option<LitStr>,
    /// `signal`
    pub(super) signal: Option<Span>,
    /// `title`, `icon`, `group` and `tags`
    shown: Shown,
    /// `crate = path`
    pub(super) runtime: Runtime,
    /// True if it has mistakes, which are reported: a flow that uses the node reports nothing more.
    pub(super) broken: bool,
    /// True if the item or a part of it is deprecated.
    pub(super) deprecated: bool,
}

/// A key of `writes`.
#[derive(Clone, PartialEq)]
pub(super) struct WrittenKey {
    pub(super) name: Ident,
    /// `+key`
    pub(super) adds: bool,
}

impl fmt::Display for WrittenKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let add = if self.adds { "+" } else { "" };
        write!(f, "{add}{}", self.name)
    }
}

/// The settings of a poll.
pub(super) struct Poll {
    pub(super) span: Span,
    pub(super) every: Duration,
    /// The time after which it gives up.
    pub(super) timeout: Option<Duration>,
}

impl NodeAttribute {
    /// Parses the text between the parentheses. A wrong setting is reported and left out.
    pub(super) fn parse(tokens: TokenStream, report: &mut Report) -> Self {
        let mut attribute = NodeAttribute::default();
        let mut named = None;
        let parsed = (|input: ParseStream<'_>| {
            while !input.is_empty() {
                if input.peek(Token![crate]) {
                    let keyword = input.span();
                    if named.replace(runtime::named(input)?).is_some() {
                        let message = "`crate` is given twice";
                        report.error(Code::Name, keyword, message, "remove one of them");
                    }
                    comma(input, report)?;
                    continue;
                }
                let text = "expected a setting, such as `writes = key` or `timeout = \"30s\"`";
                let name = settings::name(input, text)?;
                attribute.setting(&name, input, report)?;
                comma(input, report)?;
            }
            Ok(())
        })
        .parse2(tokens);
        report.ok(parsed);
        if let (Some(_), Some(span)) = (
            &attribute.human,
            attribute.signal.take_if(|_| attribute.human.is_some()),
        ) {
            let message =
                "a person is asked for an answer, and a signal comes without being asked for";
            report.error(
                Code::Malformed,
                span,
                message,
                "remove `signal`, or `human`",
            );
        }
        if let Some(path) = named {
            attribute.runtime = Runtime::at(path);
        }
        attribute
    }

    /// The node's description for the flow's JSON, with this doc comment.
    pub(super) fn about(&self, description: Option<String>) -> About {
        let poll = self.poll.as_ref().map(|poll| PollSettings {
            every: duration_text(poll.every),
            timeout: poll.timeout.map(duration_text),
        });
        About {
            description,
            shown: self.shown.clone(),
            settings: SettingsDocument {
                poll,
                blocking: self.blocking.is_some(),
                transaction: self.transaction.is_some(),
                ..self.settings.document(SettingsDocument::default())
            },
            external: None,
        }
    }

    /// Reports `retry(…, if = …)` for an attempt that fails only by taking too long.
    pub(super) fn refuse_if_without_error(
        &self,
        name: &Ident,
        returned: &Returned,
        report: &mut Report,
    ) {
        let settings = &self.settings;
        if let (Some(path), Some(_), None) = (settings.only_if(), settings.timeout, &returned.error)
        {
            let function = path_text(path);
            let message = format!("`{name}` returns no error that `{function}` could be given");
            let help =
                "return a `Result`, or remove `if`: another attempt follows a timeout anyway";
            report.error(Code::CannotFail, path.span(), message, help);
        }
    }

    fn setting(
        &mut self,
        name: &Ident,
        input: ParseStream<'_>,
        report: &mut Report,
    ) -> syn::Result<()> {
        let again = match name.to_string().as_str() {
            "actions" => self.actions.replace(actions(name, input)?).is_some(),
            "writes" => self.writes.replace(writes(name, input, report)?).is_some(),
            "human" => {
                equals(name, input, "human = \"Deploy?\"")?;
                let prompt: LitStr = input.parse()?;
                crate::settings::text(&prompt, "prompt", report);
                self.human.replace(prompt).is_some()
            }
            "signal" => {
                if input.peek(Token![=]) {
                    let message = "a signal comes without being asked for, so it has no prompt";
                    let help = "write `#[node(signal)]`; for a question to a person, \
                                `#[node(human = \"…\")]`";
                    report.error(Code::Malformed, input.span(), message, help);
                    skip_value(input)?;
                }
                self.signal.replace(name.span()).is_some()
            }
            "poll" => self.poll.replace(poll(name, input, report)?).is_some(),
            "blocking" => self.blocking.replace(name.span()).is_some(),
            "transaction" => self.transaction.replace(name.span()).is_some(),
            "title" => shown::text(&mut self.shown.title, name, input, report)?,
            "icon" => shown::text(&mut self.shown.icon, name, input, report)?,
            "group" => shown::text(&mut self.shown.group, name, input, report)?,
            "tags" => {
                let tags = shown::tags(name, input, report)?;
                !std::mem::replace(&mut self.shown.tags, tags).is_empty()
            }
            "concurrency" | "spread" | "collect_errors" | "undo" | "was" => {
                self.settings.parse(name, input, report)?;
                let of = match name.to_string().as_str() {
                    "concurrency" => "a fork or of a loop over items",
                    "undo" | "was" => "a node in a flow",
                    _ => "a loop over items",
                };
                let message = format!("`{name}` is a setting of {of}");
                let help = "give it in the flow, after `with`";
                report.error(Code::NamesNothing, name.span(), message, help);
                false
            }
            other => {
                if !self.settings.parse(name, input, report)? {
                    let names = OF_NODES.into_iter().chain(SETTINGS.into_iter().take(2));
                    let near = did_you_mean(other, names).unwrap_or_default();
                    let help = self.second_key(name, input).unwrap_or(near);
                    let message = format!("a node has no setting `{other}`");
                    report.error(Code::NamesNothing, name.span(), message, help);
                    skip_value(input)?;
                }
                false
            }
        };
        if again {
            report.error(
                Code::Name,
                name.span(),
                format!("`{name}` is given twice"),
                "remove one of them",
            );
        }
        Ok(())
    }

    /// The correction if this name is a second key: `writes = a, b`.
    fn second_key(&self, name: &Ident, input: ParseStream<'_>) -> Option<String> {
        let stands_alone = input.is_empty() || input.peek(Token![,]);
        let keys = self.writes.as_ref().filter(|_| stands_alone)?;
        let keys = keys.iter().map(WrittenKey::to_string);
        let keys: Vec<String> = keys.chain([name.to_string()]).collect();
        let keys = keys.join(", ");
        Some(format!(
            "several keys are written in parentheses: `writes({keys})`"
        ))
    }
}

/// Reports a timeout of `what`, which never awaits.
pub(super) fn refuse_timeout(what: &str, span: Span, help: &str, report: &mut Report) {
    let message = format!("{what} never awaits, so its `timeout` cannot end it");
    report.error(Code::NamesNothing, span, message, help);
}

/// `= Verdict`
fn actions(name: &Ident, input: ParseStream<'_>) -> syn::Result<Path> {
    equals(name, input, "actions = Verdict")?;
    let expected = |span| syn::Error::new(span, "expected the name of an enum of actions");
    let actions: Path = input.parse().map_err(|error| expected(error.span()))?;
    match keyword_in(&actions) {
        Some(word) => Err(expected(word.span())),
        None => Ok(actions),
    }
}

/// `(every = "1s", timeout = "1h")`
fn poll(name: &Ident, input: ParseStream<'_>, report: &mut Report) -> syn::Result<Poll> {
    let span = name.span();
    parentheses(name, input, "poll(every = \"1s\")")?;
    let content;
    parenthesized!(content in input);
    let (mut every, mut timeout) = (None, None);
    let mut every_given = false;
    let mut given = BTreeSet::new();
    while !content.is_empty() {
        let name: Ident = content.parse().map_err(|error| {
            let text = "expected a setting of `poll`, such as `every = \"1s\"`";
            syn::Error::new(error.span(), text)
        })?;
        equals(&name, &content, &format!("{name} = \"1s\""))?;
        let value = literal(&content, "\"1s\"")?;
        if !given.insert(name.to_string()) {
            let message = format!("`{name}` is given twice");
            report.error(Code::Name, name.span(), message, "remove one of them");
        }
        match name.to_string().as_str() {
            "every" => {
                every_given = true;
                every = duration(&value, report);
            }
            "timeout" => timeout = duration(&value, report),
            unknown => {
                let names = ["every", "timeout"];
                let help = did_you_mean(unknown, names).unwrap_or_default();
                every_given = true;
                let message = format!("`poll` has no setting `{unknown}`");
                report.error(Code::NamesNothing, name.span(), message, help);
            }
        }
        comma(&content, report)?;
    }
    if !every_given {
        let help = "say how long to wait before asking again: `poll(every = \"1s\")`";
        report.error(Code::Malformed, span, "`poll` does not say how often", help);
    }
    let every = every.unwrap_or(Duration::from_secs(1));
    Ok(Poll {
        span,
        every,
        timeout,
    })
}

/// `= key` or `(a, b)`
fn writes(
    name: &Ident,
    input: ParseStream<'_>,
    report: &mut Report,
) -> syn::Result<Vec<WrittenKey>> {
    let span = name.span();
    let key = |input: ParseStream<'_>| {
        let adds = input.parse::<Option<Token![+]>>()?.is_some();
        if let Ok(quoted) = input.fork().parse::<LitStr>() {
            let text = quoted.value();
            let (add, key) = match text.strip_prefix('+') {
                Some(key) => ("+", key.trim()),
                None if adds => ("+", text.as_str()),
                None => ("", text.as_str()),
            };
            let text = match syn::parse_str::<Ident>(key) {
                Ok(key) => format!("a key is written without quotes: `{add}{key}`"),
                Err(_) => "a key is a name, without quotes".to_owned(),
            };
            return Err(syn::Error::new(quoted.span(), text));
        }
        if input.peek(token::Bracket) || input.peek(token::Brace) {
            return Err(input.error("several keys are written in parentheses: `writes(a, b)`"));
        }
        let expected =
            |error: syn::Error| syn::Error::new(error.span(), "expected the name of a key");
        let name = input.parse::<Ident>().map_err(expected)?;
        Ok(WrittenKey { name, adds })
    };
    if input.peek(Token![+]) && input.peek2(Token![=]) {
        let plus = input.span();
        input.parse::<Token![+=]>()?;
        let key = input
            .parse::<Ident>()
            .map_or("key".to_owned(), |key| key.to_string());
        let text = format!("the `+` stands before the key: `writes = +{key}`");
        return Err(syn::Error::new(plus, text));
    }
    if input.peek(Token![=]) {
        input.parse::<Token![=]>()?;
        return Ok(vec![key(input)?]);
    }
    parentheses(name, input, "writes = key` or `writes(a, b)")?;
    let content;
    parenthesized!(content in input);
    let keys = Punctuated::<WrittenKey, Token![,]>::parse_terminated_with(&content, key)?;
    let keys: Vec<WrittenKey> = keys.into_iter().collect();
    if keys.is_empty() {
        let help = "name the keys that the returned values are written under, or return nothing";
        report.error(Code::NamesNothing, span, "`writes` names no key", help);
    }
    for (index, key) in keys.iter().enumerate() {
        let name = &key.name;
        if keys[..index].iter().any(|earlier| earlier.name == *name) {
            report.error(
                Code::Name,
                name.span(),
                format!("`{name}` is written twice"),
                "give each value its own key",
            );
        }
    }
    Ok(keys)
}

/// Skips the value of an unknown setting.
fn skip_value(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<proc_macro2::TokenTree>()?;
    }
    Ok(())
}
