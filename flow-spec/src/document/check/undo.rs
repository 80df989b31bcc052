//! Checks that the steps `undo` and `commit` list nothing that they read, write or decide, and
//! cannot fail.

use crate::diagnostic::Code;
use crate::document::problem::{Problem, Problems, inside};
use crate::document::{NodeDocument, types};
use crate::graph::{DEFAULT_ACTION, ERROR_ACTION};

pub(super) fn check(node: &NodeDocument, pointer: &str, problems: &mut Problems) {
    let verb = match node.r#type.as_str() {
        types::UNDO => "undoes",
        types::COMMIT => "forgets",
        _ => return,
    };
    let mut actions = node.actions.iter().flatten();
    let decides = actions.any(|action| action.name != DEFAULT_ACTION);
    let fields = [
        ("inputs", "reads", !node.inputs.properties.is_empty()),
        ("outputs", "writes", !node.outputs.properties.is_empty()),
        ("actions", "decides", decides),
    ];
    if node.fallible && !problems.is_full() {
        let message = format!("`{}` never takes \"{ERROR_ACTION}\"", node.id);
        let problem = Problem::new(Code::CannotFail, inside(pointer, "fallible"), message);
        let help = "remove this: if an undo node fails for good, the run fails";
        problems.push(problem.of_name().help(help));
    }
    for (field, does, is_wrong) in fields {
        if !is_wrong || problems.is_full() {
            continue;
        }
        let message = format!("`{}` {verb} visits, and {does} nothing", node.id);
        let problem = Problem::new(Code::NamesNothing, inside(pointer, field), message);
        problems.push(problem.of_name().help(format!("remove `{field}`")));
    }
}
