//! The nodes of the language, and the contents of their `params`.

use serde_json::Value;

use crate::diagnostic::Code;
use crate::document::problem::{Problem, Problems, inside};
use crate::document::{NodeDocument, types};
use crate::suggest::closest;

use super::object::{Object, wrong};
use super::settings;

/// The prefix of the types of the language.
const PREFIX: &str = "flow.";

/// Checks a node whose type belongs to the language.
pub(super) fn check(node: &NodeDocument, object: &mut Object<'_, '_>) {
    let name = node.r#type.as_str();
    if !name.starts_with(PREFIX) {
        return;
    }
    if !types::ALL.contains(&name) {
        unknown(name, object);
        return;
    }
    if node.is_flow() {
        let message = format!("a `{name}` is part of the language, and no flow");
        let pointer = object.at(if node.internal_flow_omitted {
            "internalFlowOmitted"
        } else {
            "internalFlow"
        });
        let help = "remove it, or write the flow's name as `type`";
        let problem = Problem::new(Code::Document, pointer, message).help(help);
        object.problems.push(problem);
    }
    let fields = fields(name);
    let required = &fields[..required(name)];
    if required.is_empty() && !object.has("params") {
        return;
    }
    let help = match name {
        types::SIGNAL => format!("say what it waits for: {SIGNAL}"),
        _ => format!("say what it consists of: `{}`", required.join("`, `")),
    };
    object.require("params", &help);
    object.part("params", |value, pointer, problems| {
        // A value that is not an object is reported already.
        if value.is_object() {
            params(name, value, fields, pointer, problems);
        }
    });
}

fn unknown(name: &str, object: &mut Object<'_, '_>) {
    let message = format!("the language has no type `{name}`");
    let help = match closest(name, types::ALL) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("there is `{}`", types::ALL.join("`, `")),
    };
    let pointer = object.at("type");
    let problem = Problem::new(Code::UnknownNode, pointer, message).help(help);
    object.problems.push(problem);
}

/// The fields of its `params`.
fn fields(name: &str) -> &'static [&'static str] {
    match name {
        types::FORK | types::FIRST => &["branches"],
        types::EACH => &["item", "over", "body"],
        types::BRANCH => &["cases", "otherwise"],
        types::WAIT => &["duration"],
        types::SIGNAL => &["expects", "name"],
        types::UNDO | types::COMMIT => &[],
        _ => &["prompt", "expects"],
    }
}

/// The number of required fields. They come first.
fn required(name: &str) -> usize {
    match name {
        types::HUMAN | types::SIGNAL => 1,
        other => fields(other).len(),
    }
}

fn params(
    name: &str,
    params: &Value,
    fields: &[&'static str],
    pointer: &str,
    problems: &mut Problems,
) {
    if fields.is_empty() {
        return no_params(name, params, pointer, problems);
    }
    let Some(mut object) = Object::of(params, pointer, "`params`", fields, problems) else {
        return;
    };
    match name {
        types::FORK => fork(&mut object),
        types::FIRST => first(&mut object),
        types::EACH => {
            object.required_name("item", "name the key under which `body` reads the item");
            object.required_name("over", "name the key of the list");
            object.required_name("body", "name the node that runs for each item");
        }
        types::BRANCH => branch(&mut object),
        types::WAIT => {
            object.require("duration", "say how long: `\"duration\": \"5s\"`");
            settings::duration(&mut object, "duration");
        }
        types::SIGNAL => signal(&mut object),
        _ => {
            object.required_name("prompt", "say what is asked: `\"prompt\": \"Deploy?\"`");
            if object.has("expects") {
                object.required_name(
                    "expects",
                    "name the type of the answer: `\"expects\": \"Approval\"`",
                );
            }
        }
    }
}

/// Reports each field of the params of a node that has none.
fn no_params(name: &str, params: &Value, pointer: &str, problems: &mut Problems) {
    let names = params.as_object().into_iter().flat_map(|map| map.keys());
    for field in names {
        if problems.is_full() {
            return;
        }
        let message = format!("a `{name}` has no `{field}`");
        let problem = Problem::new(Code::Document, inside(pointer, field), message).of_name();
        problems.push(problem.help("remove it: its `params` are empty"));
    }
}

const SIGNAL: &str = "`\"expects\": \"CancelRequest\"`, its type; or, for any JSON, its name: `\"name\": \"cancel\"`";

/// A signal of a registered type, or one of this name with any JSON.
fn signal(object: &mut Object<'_, '_>) {
    match (object.has("expects"), object.has("name")) {
        (true, true) => {
            let message = "a signal of a type has the name of its type";
            let problem = Problem::new(Code::Document, object.at("name"), message).of_name();
            let help = "remove `name`, or remove `expects` to take any JSON";
            object.problems.push(problem.help(help));
        }
        (false, true) => {
            object.required_name("name", "name the signal: `\"name\": \"cancel\"`");
        }
        (_, false) => {
            let help = format!("say what it waits for: {SIGNAL}");
            object.required_name("expects", &help);
        }
    }
}

const BRANCHES: &str = "write a list of lists of ids: `\"branches\": [[\"a\", \"b\"], [\"c\"]]`";

fn fork(object: &mut Object<'_, '_>) {
    object.require("branches", BRANCHES);
    let branches = object.list("branches", |branch, pointer, problems| {
        chain(branch, pointer, BRANCHES, problems);
    });
    if branches.is_some_and(|branches| branches.is_empty()) {
        let message = "a fork has at least one branch";
        let problem = Problem::new(Code::Document, object.at("branches"), message).help(BRANCHES);
        object.problems.push(problem);
    }
}

/// The ids of the nodes of a branch.
fn chain(branch: &Value, pointer: &str, help: &str, problems: &mut Problems) {
    let Some(ids) = branch.as_array() else {
        problems.push(wrong(pointer, "a branch", "a list", branch).help(help));
        return;
    };
    if ids.is_empty() {
        let message = "a branch has at least one node";
        problems.push(Problem::new(Code::Document, pointer, message).help(help));
    }
    for (index, id) in ids.iter().enumerate() {
        if id.as_str().is_none_or(str::is_empty) {
            let pointer = inside(pointer, index);
            problems.push(wrong(&pointer, "a step of a branch", "a node's id", id));
        }
    }
}

const RACE: &str = "list the branches: `\"branches\": [{ \"steps\": [\"pack\", \"ship\"], \"action\": \"shipped\" }]`";

fn first(object: &mut Object<'_, '_>) {
    object.require("branches", RACE);
    let branches = object.list("branches", |branch, pointer, problems| {
        let fields = ["steps", "action"];
        let Some(mut branch) = Object::of(branch, pointer, "a branch", &fields, problems) else {
            return;
        };
        branch.require("steps", RACE);
        branch.part("steps", |steps, pointer, problems| {
            chain(steps, pointer, RACE, problems)
        });
        if branch.has("action") {
            branch.required_name(
                "action",
                "name the action, or leave it out: then it is that of the last step",
            );
        }
    });
    if branches.is_some_and(|branches| branches.is_empty()) {
        let message = "a race has at least one branch";
        let problem = Problem::new(Code::Document, object.at("branches"), message).help(RACE);
        object.problems.push(problem);
    }
}

fn branch(object: &mut Object<'_, '_>) {
    let help =
        "list the conditions: `\"cases\": [{ \"when\": \"score > 3\", \"action\": \"high\" }]`";
    object.require("cases", help);
    object.list("cases", |case, pointer, problems| {
        let fields = ["when", "action"];
        let Some(mut case) = Object::of(case, pointer, "a case", &fields, problems) else {
            return;
        };
        case.required_name("when", "write the condition: `\"when\": \"score > 3\"`");
        case.required_name("action", "name the action: `\"action\": \"high\"`");
    });
    let help = "name the action if no condition is true: `\"otherwise\": \"low\"`";
    object.required_name("otherwise", help);
}
