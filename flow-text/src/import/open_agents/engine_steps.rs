//! The steps of the engine's format, and its other fields.
//!
//! The engine ends a workflow if the next step is missing. Here, that holds for success and for a
//! condition that is false. A failure ends the run with its error, and the next step after a
//! rejection is required.

use std::collections::HashSet;

use flow_spec::document::__private::{Object, inside};
use flow_spec::document::{Problems, RetrySettings, SettingsDocument};
use flow_spec::{Code, DEFAULT_ACTION, Problem};
use serde_json::Value;

use super::expression::to_cel;
use super::steps::{Agent, Case, Input, Kind, Step, TYPES, milliseconds, required, route};
use crate::import::draft::{Route, no_type};

/// The fields of a workflow that only the engine's format has.
pub(super) const OF_ENGINE: [&str; 10] = [
    "max_iterations",
    "max_duration_ms",
    "parallel",
    "initial_context",
    "max_context_size",
    "context_retention",
    "debug",
    "trace",
    "persist",
    "persist_dir",
];

/// The default number of attempts after the first one.
const RETRIES: u32 = 1;
/// The default pause after the first attempt, and the longest pause, in milliseconds.
const PAUSE: u64 = 1_000;
const LONGEST_PAUSE: u64 = 30_000;

/// The fields of a workflow about its runs and its engine, which flows do not have.
pub(super) fn left_out(object: &mut Object<'_, '_>) -> Vec<Problem> {
    let mut left_out = Vec::new();
    let mut add = |object: &Object<'_, '_>, field: &str, what: &str, help: String| {
        let message = format!("`{field}` is {what}, and not part of a flow");
        let problem = Problem::new(Code::Document, object.at(field), message);
        left_out.push(problem.of_name().help(help));
    };
    let positive = |value: &Value| value.as_u64().filter(|number| *number > 0);
    let expected = "a whole number, at least 1";
    if let Some(steps) = object.value("max_iterations", expected, positive) {
        let help = format!("limit each run: `RunOptions::new().step_budget({steps})`");
        add(object, "max_iterations", "a limit of a run", help);
    }
    if milliseconds(object, "max_duration_ms", 1).is_some() {
        let help = "limit each run: `RunOptions::new().deadline(…)`".to_owned();
        add(object, "max_duration_ms", "a limit of a run", help);
    }
    let of_engine = "a setting of the engine of OpenAgents";
    if object
        .value("max_context_size", expected, positive)
        .is_some()
    {
        let help = "remove it: all results are kept".to_owned();
        add(object, "max_context_size", of_engine, help);
    }
    let kept = object.value(
        "context_retention",
        "`all`, `recent` or `referenced`",
        |value| {
            let named = value.as_str();
            named.filter(|name| ["all", "recent", "referenced"].contains(name))
        },
    );
    if kept.is_some_and(|kept| kept != "all") {
        let help = "remove it: all results are kept".to_owned();
        add(object, "context_retention", of_engine, help);
    }
    for (field, help) in [
        (
            "parallel",
            "put steps that run at the same time into a step of the type `parallel`",
        ),
        ("debug", "watch the runs: `RunOptions::new().observer(…)`"),
        ("trace", "watch the runs: `RunOptions::new().observer(…)`"),
        ("persist", "run it with a store, which keeps each step"),
    ] {
        if object.flag(field) {
            add(object, field, of_engine, help.to_owned());
        }
    }
    if object.text("persist_dir").is_some() {
        let help = "run it with a store, which keeps each step".to_owned();
        add(object, "persist_dir", of_engine, help);
    }
    left_out
}

/// Reads a step of a workflow that has these steps.
pub(super) fn step(
    value: &Value,
    pointer: &str,
    steps: &HashSet<&str>,
    problems: &mut Problems,
) -> Option<Step> {
    let named = value.get("type").and_then(Value::as_str);
    let fields: &[&'static str] = match named {
        Some("agent") => &AGENT,
        Some("approval") => &[
            "id",
            "type",
            "message",
            "on_approve",
            "on_reject",
            "on_error",
            "timeout_ms",
        ],
        Some("parallel") => &[
            "id",
            "type",
            "steps",
            "min_success",
            "next",
            "on_error",
            "timeout_ms",
            "max_retries",
            "retry_delay_ms",
        ],
        Some("condition") => &[
            "id",
            "type",
            "condition",
            "then",
            "else",
            "on_error",
            "timeout_ms",
        ],
        Some("transform") => {
            problems.push(no_transform(pointer));
            return None;
        }
        _ => {
            problems.push(no_type(value, pointer, "step", &TYPES));
            return None;
        }
    };
    let mut object = Object::of(value, pointer, "a step", fields, problems)?;
    let id = object.required_name("id", "name the step: `\"id\": \"build\"`");
    let mut routes = Vec::new();
    let kind = match named {
        Some("agent") => {
            routes.extend([next(&mut object, "next", DEFAULT_ACTION)]);
            routes.extend(route(&mut object, "error"));
            Kind::Agent(Box::new(agent(&mut object, &id, pointer)))
        }
        Some("approval") => {
            let help = "say what is asked: `\"message\": \"Deploy?\"`";
            let message = object.required_name("message", help);
            routes.extend(required(&mut object, "approve"));
            routes.extend(required(&mut object, "reject"));
            routes.extend(route(&mut object, "error"));
            let timeout = timeout(&mut object);
            Kind::Approval { message, timeout }
        }
        Some("parallel") => {
            routes.extend([next(&mut object, "next", DEFAULT_ACTION)]);
            routes.extend(route(&mut object, "error"));
            Kind::Parallel(parallel(&mut object, &id))
        }
        _ => condition(&mut object, steps, &mut routes),
    };
    Some(Step {
        id,
        pointer: pointer.to_owned(),
        kind,
        routes,
    })
}

const AGENT: [&str; 9] = [
    "id",
    "type",
    "agent",
    "input",
    "next",
    "on_error",
    "max_retries",
    "retry_delay_ms",
    "timeout_ms",
];

fn no_transform(pointer: &str) -> Problem {
    let message = "a `transform` calculates in JavaScript, which a flow does not run";
    let problem = Problem::new(Code::Document, inside(pointer, "transform"), message);
    problem.help("register a node that calculates it, and make the step one of the type `agent`")
}

/// The target in a field. The workflow ends if the field is missing.
fn next(object: &mut Object<'_, '_>, field: &str, action: &str) -> Route {
    let to = object.name(field);
    Route {
        action: action.to_owned(),
        pointer: object.at(if to.is_some() { field } else { "id" }),
        to,
        label: DEFAULT_ACTION,
    }
}

fn agent(object: &mut Object<'_, '_>, id: &str, pointer: &str) -> Agent {
    Agent {
        id: id.to_owned(),
        agent: object.required_name("agent", "name the agent: `\"agent\": \"builder\"`"),
        pointer: pointer.to_owned(),
        has_id: true,
        settings: SettingsDocument {
            retry: retry(object),
            timeout: timeout(object),
            ..SettingsDocument::default()
        },
        input: object.name("input").map(|step| Input {
            step,
            pointer: object.at("input"),
        }),
    }
}

fn timeout(object: &mut Object<'_, '_>) -> Option<String> {
    let timeout = milliseconds(object, "timeout_ms", 1);
    timeout.map(|timeout| format!("{timeout}ms"))
}

/// The number of repeated calls of an agent. Pauses double each time, up to the longest.
fn retry(object: &mut Object<'_, '_>) -> Option<RetrySettings> {
    let expected = "the number of calls after the first, at least 0";
    let retries = object.value("max_retries", expected, |value| {
        let retries = u32::try_from(value.as_u64()?).ok();
        retries.filter(|retries| *retries < u32::MAX)
    });
    let wait = milliseconds(object, "retry_delay_ms", 0);
    let retries = match retries {
        Some(retries) => retries,
        None if wait.is_some() && !object.has("max_retries") => RETRIES,
        None => return None,
    };
    if retries == 0 {
        return None;
    }
    let wait = Some(wait.unwrap_or(PAUSE)).filter(|wait| *wait > 0);
    let grows = wait.filter(|wait| *wait < LONGEST_PAUSE);
    Some(RetrySettings {
        attempts: retries + 1,
        wait: wait.map(|wait| format!("{wait}ms")),
        backoff: grows.map(|_| 2.0),
        max_wait: grows.map(|_| format!("{LONGEST_PAUSE}ms")),
        jitter: None,
        only_if: None,
    })
}

/// The agents of a parallel step.
fn parallel(object: &mut Object<'_, '_>, id: &str) -> Vec<Agent> {
    let help = "list the steps: `\"steps\": [{ \"id\": \"lint\", \"type\": \"agent\", \"agent\": \"linter\" }]`";
    object.require("steps", help);
    let agents = object.list("steps", |value, pointer, problems| {
        inner(value, pointer, id, problems)
    });
    if agents.as_ref().is_some_and(Vec::is_empty) {
        let problem = Problem::new(Code::Document, object.at("steps"), "there are no steps");
        object.problems.push(problem.help(help));
    }
    let agents = agents.unwrap_or_default();
    let all = agents.len() as u64;
    let expected = "a whole number, at least 1";
    let least = object.value("min_success", expected, |value| {
        value.as_u64().filter(|least| *least > 0)
    });
    if least.is_some_and(|least| least != all) {
        let message = format!(
            "`{id}` fails if one of its {all} steps fails, so `min_success` can only be {all}"
        );
        let problem = Problem::new(Code::Document, object.at("min_success"), message);
        let help = "remove it, and let the agents of the steps that may fail return their errors as results";
        object.problems.push(problem.help(help));
    }
    for field in ["timeout_ms", "max_retries", "retry_delay_ms"] {
        let message = format!("`{field}` of a parallel step is not part of a flow");
        let help = format!("write `{field}` at each of its steps");
        cannot(object, field, message, help);
    }
    agents.into_iter().flatten().collect()
}

/// Reads a step of a parallel step, which can only be an agent.
fn inner(value: &Value, pointer: &str, parallel: &str, problems: &mut Problems) -> Option<Agent> {
    let what = match value.get("type").and_then(Value::as_str) {
        Some("agent") => None,
        Some("approval") => Some("an approval"),
        Some("parallel") => Some("a parallel step"),
        Some("condition") => Some("a condition"),
        Some("transform") => {
            problems.push(no_transform(pointer));
            return None;
        }
        _ => {
            problems.push(no_type(value, pointer, "step", &TYPES));
            return None;
        }
    };
    if let Some(what) = what {
        let message = format!("this is {what}, which cannot run in the parallel step `{parallel}`");
        let problem = Problem::new(Code::ForkShape, inside(pointer, "type"), message);
        problems.push(problem.help(format!("let it follow after `{parallel}`")));
        return None;
    }
    let mut object = Object::of(value, pointer, "a step", &AGENT, problems)?;
    let id = object.required_name("id", "name the step: `\"id\": \"lint\"`");
    for field in ["next", "on_error"] {
        let message = match field {
            "next" => format!("`{id}` runs in `{parallel}`, and leads nowhere itself"),
            _ => format!("`{id}` runs in `{parallel}`, which fails as a whole"),
        };
        cannot(
            &mut object,
            field,
            message,
            format!("write `{field}` at `{parallel}`"),
        );
    }
    Some(agent(&mut object, &id, pointer))
}

fn condition(object: &mut Object<'_, '_>, steps: &HashSet<&str>, routes: &mut Vec<Route>) -> Kind {
    let help = "write the condition: `\"condition\": \"test.passed === true\"`";
    let written = object.required_name("condition", help);
    let when = to_cel(&written, steps).unwrap_or_else(|part| {
        let message = format!("`{part}` of this condition in JavaScript is not part of CEL, in which flows have their conditions");
        let problem = Problem::new(Code::Document, object.at("condition"), message);
        let help = "let an agent decide it, and compare its result: `\"condition\": \"check.passed === true\"`";
        object.problems.push(problem.help(help));
        String::new()
    });
    let help = "name the step that is next if it is true: `\"then\": \"deploy\"`";
    object.require("then", help);
    routes.extend(["then", "else"].map(|field| next(object, field, field)));
    for field in ["on_error", "timeout_ms"] {
        let message = format!(
            "`{field}` of a condition is not part of a flow: a condition that cannot be told ends the run"
        );
        cannot(object, field, message, "remove it".to_owned());
    }
    Kind::Condition {
        cases: vec![Case {
            when,
            action: "then".to_owned(),
            pointers: ["condition", "then"].map(|field| object.at(field)),
        }],
        otherwise: "else".to_owned(),
    }
}

/// Reports a field that has a meaning only for the engine, and not for a flow.
fn cannot(object: &mut Object<'_, '_>, field: &str, message: String, help: String) {
    if object.has(field) && !object.is_misspelt(field) {
        let problem = Problem::new(Code::Document, object.at(field), message).of_name();
        object.problems.push(problem.help(help));
    }
}
