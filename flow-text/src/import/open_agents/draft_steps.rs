//! The steps of the draft's format.

use std::collections::{HashMap, HashSet};

use flow_spec::document::__private::{Object, inside, wrong};
use flow_spec::document::{Problems, RetrySettings, SettingsDocument};
use flow_spec::{Code, Problem};
use serde_json::Value;

use super::steps::{Agent, Case, Kind, Step, TYPES, milliseconds, required, route};
use crate::import::draft::{Route, no_type};

/// Reads a step.
pub(super) fn step(value: &Value, pointer: &str, problems: &mut Problems) -> Option<Step> {
    let named = value.get("type").and_then(Value::as_str);
    let fields: &[&'static str] = match named {
        Some("agent") => &[
            "id",
            "type",
            "agent",
            "on_success",
            "on_error",
            "max_retries",
            "retry_delay",
        ],
        Some("approval") => &["id", "type", "message", "on_approve", "on_reject"],
        Some("parallel") => &["id", "type", "agents", "on_success", "on_error"],
        Some("condition") => &["id", "type", "cases", "default"],
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
            let agent = object.required_name("agent", "name the agent: `\"agent\": \"builder\"`");
            let settings = SettingsDocument {
                retry: retry(&mut object),
                ..SettingsDocument::default()
            };
            routes.extend(required(&mut object, "success"));
            routes.extend(route(&mut object, "error"));
            Kind::Agent(Box::new(Agent {
                id: id.clone(),
                agent,
                pointer: pointer.to_owned(),
                has_id: true,
                settings,
                input: None,
            }))
        }
        Some("approval") => {
            let help = "say what is asked: `\"message\": \"Deploy?\"`";
            let message = object.required_name("message", help);
            routes.extend(required(&mut object, "approve"));
            routes.extend(required(&mut object, "reject"));
            Kind::Approval {
                message,
                timeout: None,
            }
        }
        Some("parallel") => {
            let agents = agents(&mut object, &id);
            routes.extend(required(&mut object, "success"));
            routes.extend(route(&mut object, "error"));
            Kind::Parallel(agents)
        }
        _ => condition(&mut object, &mut routes),
    };
    Some(Step {
        id,
        pointer: pointer.to_owned(),
        kind,
        routes,
    })
}

/// The number of calls of an agent. Pauses double each time.
fn retry(object: &mut Object<'_, '_>) -> Option<RetrySettings> {
    let expected = "the number of all calls, at least 1";
    let attempts = object.value("max_retries", expected, |value| {
        let attempts = u32::try_from(value.as_u64()?).ok();
        attempts.filter(|attempts| *attempts > 0)
    });
    let wait = milliseconds(object, "retry_delay", 0);
    if wait.is_some() && !object.has("max_retries") {
        let message = "`retry_delay` has no meaning without `max_retries`";
        let problem = Problem::new(Code::NamesNothing, object.at("retry_delay"), message);
        let problem = problem.of_name();
        let help = "add `max_retries`, the number of all calls";
        object.problems.push(problem.help(help));
    }
    let wait = wait.filter(|wait| *wait > 0);
    Some(RetrySettings {
        attempts: attempts?,
        wait: wait.map(|wait| format!("{wait}ms")),
        backoff: wait.map(|_| 2.0),
        max_wait: None,
        jitter: None,
        only_if: None,
    })
}

/// The agents of a parallel step, each with an id of its own: `step_agent`.
fn agents(object: &mut Object<'_, '_>, step: &str) -> Vec<Agent> {
    let help = "name the agents: `\"agents\": [\"linter\", \"tester\"]`";
    object.require("agents", help);
    let agents = object.list("agents", |value, pointer, problems| match value.as_str() {
        Some(name) if !name.is_empty() => (name.to_owned(), pointer.to_owned()),
        _ => {
            problems.push(wrong(pointer, "an agent", "its name", value));
            (String::new(), pointer.to_owned())
        }
    });
    if agents.as_ref().is_some_and(Vec::is_empty) {
        let problem = Problem::new(Code::Document, object.at("agents"), "there are no agents");
        object.problems.push(problem.help(help));
    }
    let mut counts: HashMap<String, usize> = HashMap::new();
    let agents = agents.unwrap_or_default().into_iter();
    let agents = agents.map(|(agent, pointer)| {
        let count = counts.entry(agent.clone()).or_default();
        *count += 1;
        Agent {
            id: match count {
                1 => format!("{step}_{agent}"),
                again => format!("{step}_{agent}_{again}"),
            },
            agent,
            pointer,
            has_id: false,
            settings: SettingsDocument::default(),
            input: None,
        }
    });
    agents.collect()
}

fn condition(object: &mut Object<'_, '_>, routes: &mut Vec<Route>) -> Kind {
    let help = "list the conditions: `\"cases\": [{ \"when\": \"tests.failed > 0\", \"then\": \"code\" }]`";
    object.require("cases", help);
    let cases = object.list("cases", |value, pointer, problems| {
        let fields = ["when", "then"];
        let Some(mut case) = Object::of(value, pointer, "a case", &fields, problems) else {
            return (String::new(), String::new(), String::new());
        };
        let help = "write the condition: `\"when\": \"tests.failed > 0\"`";
        let when = case.required_name("when", help);
        let help = "name the step that is next, or `end`: `\"then\": \"code\"`";
        (when, case.required_name("then", help), case.at("then"))
    });
    let help =
        "name the step that is next if no condition is true, or `end`: `\"default\": \"end\"`";
    let default = object.required_name("default", help);
    let mut seen = HashSet::new();
    let cases = cases.unwrap_or_default();
    let targets = cases
        .iter()
        .map(|(_, then, pointer)| (then, pointer.clone()));
    for (to, pointer) in targets.chain([(&default, object.at("default"))]) {
        if seen.insert(to.clone()) {
            routes.push(Route {
                action: to.clone(),
                to: Some(to.clone()),
                label: flow_spec::DEFAULT_ACTION,
                pointer,
            });
        }
    }
    let at = object.at("cases");
    let case = |(index, (when, action, then)): (usize, (String, String, String))| Case {
        when,
        action,
        pointers: [inside(&inside(&at, index), "when"), then],
    };
    Kind::Condition {
        cases: cases.into_iter().enumerate().map(case).collect(),
        otherwise: default,
    }
}
