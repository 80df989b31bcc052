//! The settings of a node.

use serde_json::Value;

use crate::diagnostic::Code;
use crate::document::problem::{Problem, Problems};
use crate::document::{PollSettings, RetrySettings, SettingsDocument};

use super::object::Object;

pub(super) fn settings(value: &Value, pointer: &str, problems: &mut Problems) -> SettingsDocument {
    let fields = [
        "retry",
        "timeout",
        "poll",
        "concurrency",
        "spread",
        "blocking",
        "transaction",
        "undo",
        "was",
        "collectErrors",
    ];
    let Some(mut object) = Object::of(value, pointer, "`settings`", &fields, problems) else {
        return SettingsDocument::default();
    };
    SettingsDocument {
        retry: object.part("retry", retry).flatten(),
        timeout: duration(&mut object, "timeout"),
        poll: object.part("poll", poll).flatten(),
        concurrency: object.value("concurrency", COUNT, count),
        spread: object.value("spread", COUNT, count),
        blocking: object.flag("blocking"),
        transaction: object.flag("transaction"),
        undo: object.name("undo"),
        was: object.name("was"),
        collect_errors: object.flag("collectErrors"),
    }
}

fn retry(value: &Value, pointer: &str, problems: &mut Problems) -> Option<RetrySettings> {
    let fields = ["attempts", "wait", "backoff", "maxWait", "jitter", "if"];
    let mut object = Object::of(value, pointer, "`retry`", &fields, problems)?;
    object.require("attempts", "say how many there are, the first included");
    let attempts = |value: &Value| u32::try_from(count(value)?).ok();
    Some(RetrySettings {
        attempts: object.value("attempts", COUNT, attempts).unwrap_or(1),
        wait: duration(&mut object, "wait"),
        backoff: object.value("backoff", "a number of at least 1", |value| {
            value.as_f64().filter(|factor| *factor >= 1.0)
        }),
        max_wait: duration(&mut object, "maxWait"),
        jitter: object.value("jitter", "a number from 0 to 1", |value| {
            value.as_f64().filter(|share| (0.0..=1.0).contains(share))
        }),
        only_if: object.name("if"),
    })
}

fn poll(value: &Value, pointer: &str, problems: &mut Problems) -> Option<PollSettings> {
    let fields = ["every", "timeout"];
    let mut object = Object::of(value, pointer, "`poll`", &fields, problems)?;
    let help = "say how long to wait before asking again: `\"every\": \"1s\"`";
    object.require("every", help);
    Some(PollSettings {
        every: duration(&mut object, "every").unwrap_or_default(),
        timeout: duration(&mut object, "timeout"),
    })
}

const COUNT: &str = "a count of at least 1";

fn count(value: &Value) -> Option<u64> {
    value.as_u64().filter(|count| *count > 0)
}

/// A duration greater than zero, in the words of the language.
pub(super) fn duration(object: &mut Object<'_, '_>, name: &str) -> Option<String> {
    let text = object.value(name, "a duration such as \"5s\"", Value::as_str)?;
    if !humantime::parse_duration(text).is_ok_and(|duration| !duration.is_zero()) {
        let message = format!("\"{text}\" is not a duration above zero");
        let help = "write a number and a unit, such as \"200ms\" or \"1m 30s\"";
        let problem = Problem::new(Code::Malformed, object.at(name), message).help(help);
        object.problems.push(problem);
    }
    Some(text.to_owned())
}
