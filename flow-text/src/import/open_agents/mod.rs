//! Workflows of OpenAgents: steps of agents, approvals, parallel agents and conditions.
//!
//! There are two formats. The analysis of PocketFlow, with which OpenAgents began, drafts one. The
//! engine that was built then reads the other. Both become the same steps here.

mod draft_steps;
mod engine_steps;
mod expression;
mod steps;
mod version;

use std::collections::{HashMap, HashSet};

use flow_spec::document::__private::{Object, inside};
use flow_spec::document::{Problems, types};
use flow_spec::{Code, ERROR_ACTION, ERROR_KEY, Problem, did_you_mean};
use serde_json::{Value, json};

use super::draft::{Draft, agent, built_in, human, key};
use steps::{Agent, END, Kind, Step};
pub(super) use version::Version;

/// The key of a workflow's input.
const INPUT: &str = "input";

/// The type of the answer to an approval, which has to be registered.
const APPROVAL: &str = "Approval";

/// Reads a workflow. The draft is incomplete if there are problems.
pub(super) fn read(value: &Value, problems: &mut Problems) -> Option<Draft> {
    if !version::check(value, problems) {
        return None;
    }
    let (fields, context) = match Version::of(value) {
        Version::Draft => (&["context"][..], "context"),
        Version::Engine => (&engine_steps::OF_ENGINE[..], "initial_context"),
    };
    let fields: Vec<&str> = ["id", "description", "steps"]
        .into_iter()
        .chain(fields.iter().copied())
        .collect();
    let mut object = Object::of(value, "", "a workflow", &fields, problems)?;
    let id = object.required_name("id", "name the workflow: `\"id\": \"release\"`");
    let mut draft = Draft::new(&id, context);
    draft.note("/name".to_owned(), "/id");
    draft.flow.description = object.text("description");
    draft.input(INPUT, None, "/id".to_owned());
    add_context(&mut draft, &mut object, context);
    let written = written_steps(value);
    let steps = match Version::of(value) {
        Version::Draft => object.list("steps", draft_steps::step)?,
        Version::Engine => {
            draft.left_out = engine_steps::left_out(&mut object);
            object.list("steps", |value, pointer, problems| {
                engine_steps::step(value, pointer, &written, problems)
            })?
        }
    };
    if steps.is_empty() {
        let help = "add the step that runs first";
        let problem = Problem::new(Code::Start, "/steps", "the workflow has no steps");
        object.problems.push(problem.help(help));
    }
    let steps: Vec<Step> = steps.into_iter().flatten().collect();
    check_targets(&written, &steps, problems);
    check_inputs(&written, &steps, &draft, problems);
    check_keys(&steps, &draft, problems);
    if let Some(first) = first(value, &steps) {
        draft.flow.entry_node_id = Some(first.id.clone());
        draft.note("/entryNodeId".to_owned(), inside(&first.pointer, "id"));
    }
    for step in steps {
        add(&mut draft, step);
    }
    Some(draft)
}

/// Adds the initial values of a workflow.
fn add_context(draft: &mut Draft, object: &mut Object<'_, '_>, field: &str) {
    let at = object.at(field);
    for (name, value) in object.object(field).into_iter().flatten() {
        let origin = inside(&at, name);
        if name == INPUT {
            let message = format!("`{INPUT}` is what the workflow is given");
            let problem = Problem::new(Code::Name, origin, message).of_name();
            object.problems.push(problem.help("give it another name"));
            continue;
        }
        draft.value(name, value, origin, object.problems);
    }
}

/// The ids of all steps, including those that cannot be read. A reference to one of these is not
/// another mistake.
fn written_steps(value: &Value) -> HashSet<&str> {
    let mut ids = HashSet::new();
    let mut open = vec![value];
    while let Some(around) = open.pop() {
        let steps = around.get("steps").and_then(Value::as_array);
        for step in steps.into_iter().flatten() {
            ids.extend(step.get("id").and_then(Value::as_str));
            open.push(step);
        }
    }
    ids
}

/// The step that runs first. The engine begins with the first step that is not a target.
fn first<'s>(value: &Value, steps: &'s [Step]) -> Option<&'s Step> {
    let routes = steps.iter().flat_map(|step| &step.routes);
    let targets: HashSet<&str> = routes.filter_map(|route| route.to.as_deref()).collect();
    let free = |step: &&Step| !targets.contains(step.id.as_str());
    let begins = match Version::of(value) {
        Version::Draft => None,
        Version::Engine => steps.iter().find(free),
    };
    begins.or_else(|| steps.first())
}

/// Reports targets that are not steps.
fn check_targets(written: &HashSet<&str>, steps: &[Step], problems: &mut Problems) {
    let names = || steps.iter().map(|step| step.id.as_str()).chain([END]);
    let is_unnamed = steps.iter().any(|step| step.id.is_empty());
    for route in steps.iter().flat_map(|step| &step.routes) {
        let to = route.to.as_deref().unwrap_or_default();
        // A step whose id could not be read may be the target.
        if problems.is_full() || is_unnamed || to.is_empty() {
            continue;
        }
        if to != END && !written.contains(to) {
            let message = format!("there is no step `{to}`");
            let mut problem = Problem::new(Code::UnknownNode, &route.pointer, message);
            problem.help = did_you_mean(to, names());
            problems.push(problem);
        }
    }
}

/// Reports inputs of agents that no step writes.
fn check_inputs(written: &HashSet<&str>, steps: &[Step], draft: &Draft, problems: &mut Problems) {
    let agents = || steps.iter().flat_map(Step::agents);
    let ids: HashSet<&str> = agents().map(|agent| agent.id.as_str()).collect();
    for input in agents().filter_map(|agent| agent.input.as_ref()) {
        let step = input.step.as_str();
        let is_value = draft.flow.inputs.properties.contains_key(step);
        if problems.is_full() || step.is_empty() || ids.contains(step) || is_value {
            continue;
        }
        let is_read = steps.iter().any(|other| other.id == step);
        if written.contains(step) && !is_read {
            continue;
        }
        let (code, message) = if is_read {
            let message = format!("the step `{step}` has no result");
            (Code::NamesNothing, message)
        } else {
            (Code::UnknownNode, format!("there is no step `{step}`"))
        };
        let mut problem = Problem::new(code, &*input.pointer, message);
        problem.help = if is_read {
            Some("name a step of the type `agent`".to_owned())
        } else {
            did_you_mean(step, agents().map(|agent| agent.id.as_str()))
        };
        problems.push(problem);
    }
}

/// Reports agents whose results would share a name with something else.
fn check_keys(steps: &[Step], draft: &Draft, problems: &mut Problems) {
    let mut first: HashMap<String, &Agent> = HashMap::new();
    // Agents of the draft's parallel steps have no ids of their own to change.
    let agents = steps.iter().flat_map(Step::agents);
    for agent in agents.filter(|agent| agent.has_id) {
        let key = key(&agent.id);
        let at = inside(&agent.pointer, "id");
        let taken = draft.flow.inputs.properties.contains_key(&key) && key != INPUT;
        let other = first.get(&key).filter(|other| other.id != agent.id);
        let problem = match other {
            Some(other) => {
                let message = format!(
                    "the results of `{}` and `{}` are both called `{key}`",
                    other.id, agent.id
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
                first.insert(key, agent);
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
        Kind::Agent(agent) => add_agent(draft, *agent, fails),
        Kind::Approval { message, timeout } => {
            let mut node = human(&id, &message);
            node.params.insert("expects".to_owned(), APPROVAL.into());
            node.fallible = fails;
            node.settings.timeout = timeout;
            let node = draft.node(node, &pointer);
            draft.note(inside(&node, "params"), at("type"));
            draft.note(inside(&node, "id"), at("id"));
            draft.note(inside(&node, "settings"), at("timeout_ms"));
        }
        Kind::Parallel(agents) => {
            let branches: Vec<[&String; 1]> = agents.iter().map(|agent| [&agent.id]).collect();
            let fork = built_in(&id, types::FORK, json!({ "branches": branches }));
            let fork = draft.node(fork, &pointer);
            draft.note(inside(&fork, "id"), at("id"));
            for agent in agents {
                add_agent(draft, agent, fails);
            }
        }
        Kind::Condition { cases, otherwise } => {
            let listed = cases.iter();
            let listed = listed.map(|case| json!({ "when": case.when, "action": case.action }));
            let listed: Vec<Value> = listed.collect();
            let params = json!({ "cases": listed, "otherwise": otherwise });
            let node = draft.node(built_in(&id, types::BRANCH, params), &pointer);
            draft.note(inside(&node, "id"), at("id"));
            for (index, case) in cases.into_iter().enumerate() {
                let [when, action] = case.pointers;
                let case = format!("{node}/params/cases/{index}");
                draft.note(inside(&case, "when"), when);
                draft.note(inside(&case, "action"), action);
            }
        }
    }
    for mut route in routes {
        route.to = route.to.filter(|to| to != END);
        draft.route(&id, route);
    }
}

/// Adds an agent, which writes its result under its id.
fn add_agent(draft: &mut Draft, step: Agent, fails: bool) {
    let at = |field: &str| inside(&step.pointer, field);
    let mut node = agent(&step.id, &step.agent);
    node.fallible = fails || step.settings.retry.is_some();
    node.settings = step.settings;
    // The agent gets the key `input` anyway.
    let input = step.input.filter(|input| input.step != INPUT);
    if let Some(input) = &input {
        let key = key(&input.step).into();
        node.mappings.inputs.insert(INPUT.to_owned(), key);
    }
    let node = draft.node(node, &step.pointer);
    draft.result(&key(&step.id), &step.pointer);
    if !step.has_id {
        return;
    }
    for (part, field) in [
        ("type", "agent"),
        ("outputs", "agent"),
        ("settings", "max_retries"),
        ("settings/timeout", "timeout_ms"),
        ("mappings/inputs", "input"),
        ("id", "id"),
    ] {
        draft.note(format!("{node}/{part}"), at(field));
    }
}
