//! The settings of a node, and the values from which it was made.

use flow_spec::document::{NodeDocument, SettingsDocument};
use maud::{Markup, html};
use serde_json::Value;

use super::text::Text;

pub(super) fn settings(settings: &SettingsDocument) -> Markup {
    let mut facts = Vec::new();
    if let Some(was) = &settings.was {
        facts.push(("was", format!("{was}, in earlier executions")));
    }
    if let Some(undo) = &settings.undo {
        facts.push(("undo", format!("{undo} takes back what was done")));
    }
    if let Some(retry) = &settings.retry {
        let mut words = format!("{} attempts", retry.attempts);
        if let Some(wait) = &retry.wait {
            words += &format!(", {wait} before the second");
        }
        if let Some(backoff) = retry.backoff {
            words += &format!(", {backoff} times as long before each further one");
        }
        if let Some(longest) = &retry.max_wait {
            words += &format!(", never longer than {longest}");
        }
        if let Some(jitter) = retry.jitter {
            words += &format!(", a share of {jitter} of it random");
        }
        if let Some(function) = &retry.only_if {
            words += &format!(", only if {function} says so");
        }
        facts.push(("retry", words));
    }
    if let Some(timeout) = &settings.timeout {
        facts.push(("timeout", timeout.clone()));
    }
    if let Some(poll) = &settings.poll {
        let timeout = poll.timeout.as_ref();
        let timeout =
            timeout.map_or_else(String::new, |timeout| format!(", for {timeout} at most"));
        facts.push(("poll", format!("every {}{timeout}", poll.every)));
    }
    if let Some(count) = settings.concurrency {
        facts.push(("concurrency", count.to_string()));
    }
    if let Some(items) = settings.spread {
        facts.push(("spread", format!("over workers, {items} items each")));
    }
    if settings.blocking {
        facts.push((
            "blocking",
            "runs on the pool for work that blocks".to_owned(),
        ));
    }
    if settings.transaction {
        facts.push((
            "transaction",
            "commits what it writes together with its outcome".to_owned(),
        ));
    }
    if settings.collect_errors {
        facts.push(("collects errors", "keeps errors as values".to_owned()));
    }
    list("Settings", &facts)
}

pub(super) fn params(node: &NodeDocument) -> Markup {
    let mut facts: Vec<(&str, String)> = Vec::new();
    for (name, value) in &node.params {
        facts.push((name, written(value)));
    }
    for name in &node.params_omitted {
        facts.push(match name.as_str() {
            "*" => ("all", "left out of this export".to_owned()),
            name => (name, "left out: it cannot be written as JSON".to_owned()),
        });
    }
    let dependencies = node.dependencies.iter();
    let dependencies: Vec<(&str, String)> = dependencies
        .map(|name| (name.as_str(), "from outside".to_owned()))
        .collect();
    html! {
        (list("Params", &facts))
        (list("Dependencies", &dependencies))
    }
}

/// A text unchanged, anything else as JSON.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => format!("{other:#}"),
    }
}

fn list(title: &str, facts: &[(&str, String)]) -> Markup {
    html! {
        @if !facts.is_empty() {
            h3 { (title) }
            table {
                @for (name, fact) in facts {
                    tr {
                        th scope="row" { code { (Text(name)) } }
                        td class="value" { (Text(fact)) }
                    }
                }
            }
        }
    }
}
