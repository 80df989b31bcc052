//! Checks nodes that wait for signals: they read nothing, and those that wait for one signal expect
//! one type.

use std::collections::HashMap;

use serde_json::Value;

use crate::diagnostic::Code;
use crate::document::problem::{Problem, Problems, inside};
use crate::document::{FlowDocument, NodeDocument, types};

/// Reports values that a node seems to read.
pub(super) fn check(node: &NodeDocument, pointer: &str, problems: &mut Problems) {
    let reads = !node.inputs.properties.is_empty();
    if node.r#type != types::SIGNAL || !reads || problems.is_full() {
        return;
    }
    let message = format!("`{}` waits for a signal, and reads nothing", node.id);
    let problem = Problem::new(Code::NamesNothing, inside(pointer, "inputs"), message);
    problems.push(problem.of_name().help("remove `inputs`"));
}

/// The first node that waits for a signal.
struct First<'a> {
    id: &'a str,
    pointer: String,
    expects: Option<&'a str>,
}

/// Reports signals of one name that are expected to be of different types, in a flow and its inner
/// flows. Who sends one names only the signal.
pub(super) fn check_types(flow: &FlowDocument, problems: &mut Problems) {
    check_level(flow, "", &mut HashMap::new(), problems);
}

fn check_level<'a>(
    flow: &'a FlowDocument,
    pointer: &str,
    known: &mut HashMap<&'a str, First<'a>>,
    problems: &mut Problems,
) {
    for (index, node) in flow.nodes.iter().enumerate() {
        if problems.is_full() {
            return;
        }
        let pointer = inside(&inside(pointer, "nodes"), index);
        if let Some(name) = node.signal() {
            let expects = node.params.get("expects").and_then(Value::as_str);
            let first = known.entry(name).or_insert_with(|| First {
                id: &node.id,
                pointer: pointer.clone(),
                expects,
            });
            if first.expects != expects {
                problems.push(conflict(node, name, expects, &pointer, first));
            }
        }
        if let Some(inner) = &node.internal_flow {
            check_level(inner, &inside(&pointer, "internalFlow"), known, problems);
        }
    }
}

fn conflict(
    node: &NodeDocument,
    name: &str,
    expects: Option<&str>,
    pointer: &str,
    first: &First<'_>,
) -> Problem {
    let what = |expects: Option<&str>| match expects {
        Some(expects) => format!("a `{expects}`"),
        None => "any JSON".to_owned(),
    };
    let message = format!(
        "`{}` waits for {} as the signal `{name}`, and `{}` for {}",
        node.id,
        what(expects),
        first.id,
        what(first.expects)
    );
    let param = if expects.is_some() { "expects" } else { "name" };
    let place = inside(&inside(pointer, "params"), param);
    let mut problem = Problem::new(Code::Name, place, message);
    let related = (first.pointer.clone(), "it waits here".to_owned());
    problem.related.push(related);
    problem.help(
        "expect one type in both, or give one signal another name: who sends it says only the name",
    )
}
