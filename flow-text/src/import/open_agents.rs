//! Workflows of OpenAgents: steps of agents, approvals, parallel agents and conditions.

use std::collections::{HashMap, HashSet};

use flow_spec::document::__private::{Object, inside, wrong};
use flow_spec::document::{Problems, RetrySettings, types};
use flow_spec::{Code, ERROR_ACTION, ERROR_KEY, Problem, did_you_mean};
use serde_json::{Value, json};

use super::draft::{
    Draft, MOST_MILLISECONDS, Route, agent, built_in, human, key, no_type, written_ids,
};

/// The target that ends a workflow.
const END: &str = "end";

/// The key of what a workflow is given.
const INPUT: &str = "input";

/// The type of the answer to an approval, which has to be registered.
const APPROVAL: &str = "Approval";

const TYPES: [&str; 4] = ["agent", "approval", "parallel", "condition"];

/// A step of a workflow.
struct Step {
    id: String,
    pointer: String,
    kind: Kind,
    /// Where it leads: the ids of steps, or [`END`].
    routes: Vec<Route>,
}

enum Kind {
    Agent {
        agent: String,
        retry: Option<RetrySettings>,
    },
    Approval {
        message: String,
    },
    Parallel {
        agents: Vec<String>,
    },
    Condition {
        /// The conditions, with the actions to which they lead.
        cases: Vec<(String, String)>,
        default: String,
    },
}

/// Reads a workflow. What is made of it is incomplete if there are problems.
pub(super) fn read(value: &Value, problems: &mut Problems) -> Option<Draft> {
    let fields = ["id", "description", "context", "steps"];
    let mut object = Object::of(value, "", "a workflow", &fields, problems)?;
    let id = object.required_name("id", "name the workflow: `\"id\": \"release\"`");
    let mut draft = Draft::new(&id, "context");
    draft.note("/name".to_owned(), "/id");
    draft.flow.description = object.text("description");
    draft.input(INPUT, None, "/id".to_owned());
    let context = object.object("context");
    for (name, value) in context.into_iter().flatten() {
        let origin = inside("/context", name);
        if name == INPUT {
            let message = format!("`{INPUT}` is what the workflow is given");
            let problem = Problem::new(Code::Name, origin, message).of_name();
            object.problems.push(problem.help("give it another name"));
            continue;
        }
        draft.input(name, Some(value), origin);
    }
    let steps = object.list("steps", step)?;
    if steps.is_empty() {
        let help = "add the step that runs first";
        let problem = Problem::new(Code::Start, "/steps", "the workflow has no steps");
        object.problems.push(problem.help(help));
    }
    let steps: Vec<Step> = steps.into_iter().flatten().collect();
    check_targets(value, &steps, problems);
    check_keys(&steps, &draft, problems);
    draft.flow.entry_node_id = steps.first().map(|step| step.id.clone());
    draft.note("/entryNodeId".to_owned(), "/steps/0/id");
    for step in steps {
        add(&mut draft, step);
    }
    Some(draft)
}

/// Reads a step.
fn step(value: &Value, pointer: &str, problems: &mut Problems) -> Option<Step> {
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
            let retry = retry(&mut object);
            routes.extend(required(&mut object, "success"));
            routes.extend(route(&mut object, "error"));
            Kind::Agent { agent, retry }
        }
        Some("approval") => {
            let help = "say what is asked: `\"message\": \"Deploy?\"`";
            let message = object.required_name("message", help);
            routes.extend(required(&mut object, "approve"));
            routes.extend(required(&mut object, "reject"));
            Kind::Approval { message }
        }
        Some("parallel") => {
            let agents = agents(&mut object);
            routes.extend(required(&mut object, "success"));
            routes.extend(route(&mut object, "error"));
            Kind::Parallel { agents }
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

/// How often an agent is called. Pauses double each time.
fn retry(object: &mut Object<'_, '_>) -> Option<RetrySettings> {
    let expected = "the number of all calls, at least 1";
    let attempts = object.value("max_retries", expected, |value| {
        let attempts = u32::try_from(value.as_u64()?).ok();
        attempts.filter(|attempts| *attempts > 0)
    });
    let expected = "a number of milliseconds, up to 1000000000000";
    let wait = object.value("retry_delay", expected, |value| {
        value.as_u64().filter(|wait| *wait <= MOST_MILLISECONDS)
    });
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

fn agents(object: &mut Object<'_, '_>) -> Vec<String> {
    let help = "name the agents: `\"agents\": [\"linter\", \"tester\"]`";
    object.require("agents", help);
    let agents = object.list("agents", |value, pointer, problems| match value.as_str() {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => {
            problems.push(wrong(pointer, "an agent", "its name", value));
            String::new()
        }
    });
    if agents.as_ref().is_some_and(Vec::is_empty) {
        let problem = Problem::new(Code::Document, object.at("agents"), "there are no agents");
        object.problems.push(problem.help(help));
    }
    agents.unwrap_or_default()
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
    let cases = cases.into_iter().map(|(when, then, _)| (when, then));
    Kind::Condition {
        cases: cases.collect(),
        default,
    }
}

/// Where an action leads, which has to be said: what is not said does not go the way of success.
fn required(object: &mut Object<'_, '_>, action: &str) -> Option<Route> {
    let help = format!("name the step that follows then, or `{END}`");
    object.require(&format!("on_{action}"), &help);
    route(object, action)
}

/// Where an action leads. `None` if nothing is said about it.
fn route(object: &mut Object<'_, '_>, action: &str) -> Option<Route> {
    let field = format!("on_{action}");
    let to = object.name(&field)?;
    let (action, label) = match action {
        "success" => (flow_spec::DEFAULT_ACTION, flow_spec::DEFAULT_ACTION),
        "error" => (ERROR_ACTION, "failed"),
        "reject" => (action, "rejected"),
        _ => (action, flow_spec::DEFAULT_ACTION),
    };
    Some(Route {
        action: action.to_owned(),
        to: Some(to),
        label,
        pointer: object.at(&field),
    })
}

/// Reports targets that are not steps.
fn check_targets(value: &Value, steps: &[Step], problems: &mut Problems) {
    let ids: HashSet<&str> = steps.iter().map(|step| step.id.as_str()).collect();
    let written: HashSet<&str> = written_ids(value, "steps").collect();
    let names = || steps.iter().map(|step| step.id.as_str()).chain([END]);
    for route in steps.iter().flat_map(|step| &step.routes) {
        let to = route.to.as_deref().unwrap_or_default();
        // A step whose id could not be read may be the one that was meant.
        if problems.is_full() || ids.contains("") || to.is_empty() {
            continue;
        }
        if to != END && !ids.contains(to) && !written.contains(to) {
            let message = format!("there is no step `{to}`");
            let mut problem = Problem::new(Code::UnknownNode, &route.pointer, message);
            problem.help = did_you_mean(to, names());
            problems.push(problem);
        }
    }
}

/// Reports steps whose results would have the name of something else.
fn check_keys(steps: &[Step], draft: &Draft, problems: &mut Problems) {
    let mut first: HashMap<String, &Step> = HashMap::new();
    let agents = |step: &&Step| matches!(step.kind, Kind::Agent { .. });
    for step in steps.iter().filter(agents) {
        let key = key(&step.id);
        let at = inside(&step.pointer, "id");
        let taken = draft.flow.inputs.properties.contains_key(&key) && key != INPUT;
        let other = first.get(&key).filter(|other| other.id != step.id);
        let problem = match other {
            Some(other) => {
                let message = format!(
                    "the results of `{}` and `{}` are both called `{key}`",
                    other.id, step.id
                );
                let mut problem = Problem::new(Code::Name, at, message);
                let other = inside(&other.pointer, "id");
                problem.related.push((other, "the first one".to_owned()));
                problem
            }
            None if taken => {
                let message = format!("the context has a value `{key}` already");
                Problem::new(Code::Name, at, message)
            }
            None if key == ERROR_KEY => {
                let message = format!("`{key}` is the error of the step that failed last");
                Problem::new(Code::Name, at, message)
            }
            None => {
                first.insert(key, step);
                continue;
            }
        };
        problems.push(problem.help("give the step another id"));
    }
}

/// Adds a step to the document.
fn add(draft: &mut Draft, step: Step) {
    let Step {
        id,
        pointer,
        kind,
        routes,
    } = step;
    let at = |field: &str| inside(&pointer, field);
    let fails = routes.iter().any(|route| route.action == ERROR_ACTION);
    match kind {
        Kind::Agent { agent: name, retry } => {
            let mut node = agent(&id, &name);
            node.fallible = fails || retry.is_some();
            node.settings.retry = retry;
            let node = draft.node(node, &pointer);
            draft.result(&key(&id), &pointer);
            draft.note(inside(&node, "type"), at("agent"));
            draft.note(inside(&node, "outputs"), at("agent"));
            draft.note(inside(&node, "settings"), at("max_retries"));
            draft.note(inside(&node, "id"), at("id"));
        }
        Kind::Approval { message } => {
            let mut node = human(&id, &message);
            node.params.insert("expects".to_owned(), APPROVAL.into());
            let node = draft.node(node, &pointer);
            draft.note(inside(&node, "params"), at("type"));
            draft.note(inside(&node, "id"), at("id"));
        }
        Kind::Parallel { agents } => add_parallel(draft, &id, &pointer, &agents, fails),
        Kind::Condition { cases, default } => {
            let count = cases.len();
            let cases = cases.into_iter();
            let cases = cases.map(|(when, then)| json!({ "when": when, "action": then }));
            let cases: Vec<Value> = cases.collect();
            let params = json!({ "cases": cases, "otherwise": default });
            let node = draft.node(built_in(&id, types::BRANCH, params), &pointer);
            draft.note(inside(&node, "id"), at("id"));
            for index in 0..count {
                let case = format!("{node}/params/cases/{index}");
                let origin = inside(&at("cases"), index);
                draft.note(inside(&case, "when"), inside(&origin, "when"));
                draft.note(inside(&case, "action"), inside(&origin, "then"));
            }
        }
    }
    for mut route in routes {
        route.to = route.to.filter(|to| to != END);
        draft.route(&id, route);
    }
}

/// Adds agents that run at the same time.
fn add_parallel(draft: &mut Draft, id: &str, pointer: &str, agents: &[String], fails: bool) {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut ids = Vec::new();
    for name in agents {
        let count = counts.entry(name).or_default();
        *count += 1;
        ids.push(match count {
            1 => format!("{id}_{name}"),
            again => format!("{id}_{name}_{again}"),
        });
    }
    let branches: Vec<[&String; 1]> = ids.iter().map(|id| [id]).collect();
    let fork = built_in(id, types::FORK, json!({ "branches": branches }));
    let fork = draft.node(fork, pointer);
    draft.note(inside(&fork, "id"), inside(pointer, "id"));
    for (index, (id, name)) in ids.iter().zip(agents).enumerate() {
        let origin = inside(&inside(pointer, "agents"), index);
        let mut node = agent(id, name);
        node.fallible = fails;
        draft.node(node, &origin);
        draft.result(&key(id), &origin);
    }
}
