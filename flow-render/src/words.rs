//! The texts in boxes and at arrows, which are the same in every notation.

use std::collections::HashMap;

use flow_spec::document::{NodeDocument, SettingsDocument, types};
use flow_spec::{DEFAULT_ACTION, visible};
use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation as _;

/// The maximum length of a user's texts, such as prompts. Longer ones are cut.
const LONGEST: usize = 48;
/// The maximum length of names, such as titles. Longer ones are cut: viewers cannot show a picture
/// that is wider.
const LONGEST_NAME: usize = 160;
/// The maximum number of keys named at an arrow. For more, the number of the others is shown.
const MOST_KEYS: usize = 3;

/// The text in a box: the node's title or else its name, its kind, and its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Caption {
    pub(super) title: String,
    pub(super) what: Option<String>,
    pub(super) settings: Option<String>,
}

impl Caption {
    pub(super) fn of(node: &NodeDocument) -> Caption {
        Caption {
            title: name(node.title.as_deref().unwrap_or(&node.id)),
            what: named(node).map(|text| shortened(&text)),
            settings: settings(&node.settings),
        }
    }

    /// Its lines, the name first.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        let more = self.what.iter().chain(&self.settings);
        std::iter::once(self.title.as_str()).chain(more.map(String::as_str))
    }
}

/// The kind of the node, with its name if the title replaces the name.
fn named(node: &NodeDocument) -> Option<String> {
    match (&node.title, what(node)) {
        (None, what) => what,
        (Some(_), None) => Some(node.id.clone()),
        (Some(_), Some(what)) => Some(format!("{}: {what}", node.id)),
    }
}

fn what(node: &NodeDocument) -> Option<String> {
    let param = |name: &str| node.params.get(name).and_then(Value::as_str).unwrap_or("?");
    let at_once = node.settings.concurrency;
    match node.r#type.as_str() {
        types::FORK => Some(match at_once {
            Some(count) => format!("in parallel, {count} at once"),
            None => "in parallel".to_owned(),
        }),
        types::FIRST => Some("first of".to_owned()),
        types::EACH => {
            let mut each = format!("for {} in {}", param("item"), param("over"));
            if let Some(count) = at_once {
                each += &format!(", {count} at once");
            }
            if let Some(items) = node.settings.spread {
                each += &format!(", spread by {items}");
            }
            Some(each)
        }
        types::BRANCH => None,
        types::WAIT => Some(format!("wait {}", param("duration"))),
        types::HUMAN => Some(format!("asks: {}", param("prompt"))),
        types::UNDO => Some("undoes what was done".to_owned()),
        types::COMMIT => Some("keeps what was done".to_owned()),
        types::SIGNAL => Some(format!("waits for: {}", node.signal().unwrap_or("?"))),
        other if node.internal_flow_omitted => Some(format!("{other}, a flow that is left out")),
        other if other == node.id => None,
        other => Some(other.to_owned()),
    }
}

/// The settings of a node that are shown in a picture.
fn settings(settings: &SettingsDocument) -> Option<String> {
    let mut found = Vec::new();
    if let Some(undo) = &settings.undo {
        found.push(format!("undone by {}", name(undo)));
    }
    if let Some(retry) = &settings.retry {
        let attempts = format!("{} attempts", retry.attempts);
        found.push(match &retry.only_if {
            Some(function) => format!("{attempts} if {}", shortened(function)),
            None => attempts,
        });
    }
    if let Some(poll) = &settings.poll {
        found.push(format!("asks every {}", poll.every));
    }
    if let Some(timeout) = &settings.timeout {
        found.push(format!("at most {timeout}"));
    }
    if settings.collect_errors {
        found.push("collects errors".to_owned());
    }
    (!found.is_empty()).then(|| one_line(&found.join(", ")))
}

/// The text at an arrow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ArrowLabel {
    /// The action, unless it is `default`.
    pub(super) action: Option<String>,
    /// The conditions of a branch for the action.
    pub(super) condition: Option<String>,
    /// The keys that travel along the arrow: `{claim, amount}`.
    pub(super) keys: Option<String>,
}

impl ArrowLabel {
    /// The text for an action of a node with these conditions.
    pub(super) fn of(action: &str, conditions: &Conditions<'_>) -> Self {
        let of_action = conditions.get(action);
        ArrowLabel {
            action: (action != DEFAULT_ACTION).then(|| name(action)),
            condition: of_action.map(|conditions| shortened(&conditions.join(" or "))),
            keys: None,
        }
    }

    /// The text at the arrow from a node to its undo node.
    pub(super) fn of_undo() -> Self {
        ArrowLabel {
            action: Some("undo".to_owned()),
            ..ArrowLabel::default()
        }
    }

    #[must_use]
    pub(super) fn with_keys(self, keys: &[String]) -> Self {
        let names = keys.iter().take(MOST_KEYS).map(|key| name(key));
        let mut names: Vec<String> = names.collect();
        if keys.len() > MOST_KEYS {
            names.push(format!("+{}", keys.len() - MOST_KEYS));
        }
        let keys = (!names.is_empty()).then(|| format!("{{{}}}", names.join(", ")));
        ArrowLabel { keys, ..self }
    }

    /// Its lines without the keys.
    pub(super) fn about_action(&self) -> impl Iterator<Item = &str> {
        let lines = self.action.iter().chain(&self.condition);
        lines.map(String::as_str)
    }

    /// Its lines.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        self.about_action().chain(self.keys.as_deref())
    }
}

/// The conditions that decide for each action of a branch.
pub(super) type Conditions<'a> = HashMap<&'a str, Vec<String>>;

/// The conditions of a node. Empty unless it is a branch.
pub(super) fn conditions_of(node: &NodeDocument) -> Conditions<'_> {
    let mut conditions = Conditions::new();
    if node.r#type != types::BRANCH {
        return conditions;
    }
    let cases = node.params.get("cases").and_then(Value::as_array);
    for case in cases.into_iter().flatten() {
        let text = |name: &str| case.get(name).and_then(Value::as_str);
        if let (Some(action), Some(when)) = (text("action"), text("when")) {
            conditions.entry(action).or_default().push(one_line(when));
        }
    }
    if let Some(otherwise) = node.params.get("otherwise").and_then(Value::as_str) {
        let conditions = conditions.entry(otherwise).or_default();
        conditions.push("else".to_owned());
    }
    conditions
}

/// The text of an end.
pub(super) fn end(label: &str) -> String {
    match label {
        DEFAULT_ACTION => "end".to_owned(),
        label => name(label),
    }
}

/// The text with each sequence of spaces and line breaks as one space, and the rest [`visible`].
pub(super) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    visible(&words.join(" ")).into_owned()
}

/// A name in one line.
pub(super) fn name(text: &str) -> String {
    cut(text, LONGEST_NAME)
}

fn shortened(text: &str) -> String {
    cut(text, LONGEST)
}

/// The text in one line, of at most this many letters.
fn cut(text: &str, longest: usize) -> String {
    let text = one_line(text);
    if text.graphemes(true).count() <= longest {
        return text;
    }
    let short: String = text.graphemes(true).take(longest - 1).collect();
    // A joiner before a character other than a letter would be shown as a deceptive one.
    let short = short.trim_end().trim_end_matches(['\u{200c}', '\u{200d}']);
    format!("{short}…")
}
