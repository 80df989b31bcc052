//! Checks that the conditions of a branch lead to actions that it lists.

use std::collections::HashSet;

use serde_json::Value;

use crate::diagnostic::Code;
use crate::document::problem::{Problem, Problems, inside};
use crate::document::{NodeDocument, types};
use crate::suggest::did_you_mean_text;

pub(super) fn check(node: &NodeDocument, pointer: &str, problems: &mut Problems) {
    let (Some(listed), types::BRANCH) = (&node.actions, node.r#type.as_str()) else {
        return;
    };
    let names: HashSet<&str> = listed.iter().map(|one| one.name.as_str()).collect();
    let params = inside(pointer, "params");
    let cases = node.params.get("cases").and_then(Value::as_array);
    let cases = cases
        .into_iter()
        .flatten()
        .enumerate()
        .map(|(index, case)| {
            let place = inside(&inside(&params, "cases"), index);
            (inside(&place, "action"), case.get("action"))
        });
    let otherwise = (inside(&params, "otherwise"), node.params.get("otherwise"));
    for (place, action) in cases.chain([otherwise]) {
        let Some(action) = action.and_then(Value::as_str) else {
            continue;
        };
        if problems.is_full() || names.contains(action) {
            continue;
        }
        let message = format!("`{}` lists no action \"{action}\"", node.id);
        let meant = did_you_mean_text(action, listed.iter().map(|one| one.name.as_str()));
        let help = meant.unwrap_or_else(|| "add it to `actions`".to_owned());
        problems.push(Problem::new(Code::UnknownAction, place, message).help(help));
    }
}
