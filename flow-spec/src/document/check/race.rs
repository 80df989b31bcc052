//! Checks that a race lists the actions of its branches.

use crate::diagnostic::Code;
use crate::document::problem::{Problem, Problems, inside};
use crate::document::{NodeDocument, types};
use crate::suggest::did_you_mean_text;

use super::graph::Places;

pub(super) fn check(
    places: &Places<'_>,
    node: &NodeDocument,
    pointer: &str,
    problems: &mut Problems,
) {
    let (Some(listed), types::FIRST) = (&node.actions, node.r#type.as_str()) else {
        return;
    };
    let id = &node.id;
    let pointer = inside(pointer, "actions");
    let taken = places.actions_of_race(node);
    let names = || taken.iter().map(|action| action.name.as_str());
    for (index, action) in listed.iter().enumerate() {
        let writes = !action.writes.is_empty() || !action.may_write.is_empty();
        if writes && !problems.is_full() {
            let message = format!("`{id}` writes nothing itself: the nodes in its branches do");
            let place = inside(&pointer, index);
            let problem = Problem::new(Code::NamesNothing, place, message);
            problems.push(problem.help("remove `writes` and `mayWrite`"));
        }
        if problems.is_full() || names().any(|name| name == action.name) {
            continue;
        }
        let message = format!("no branch of `{id}` takes \"{}\"", action.name);
        let help = did_you_mean_text(&action.name, names())
            .unwrap_or_else(|| "remove it, or name it as the `action` of a branch".to_owned());
        let problem = Problem::new(Code::UnknownAction, inside(&pointer, index), message);
        problems.push(problem.help(help));
    }
    for name in names() {
        if problems.is_full() || listed.iter().any(|action| action.name == name) {
            continue;
        }
        let message = format!("`{id}` takes \"{name}\", and does not list it");
        let help = "add it, or leave out `actions`: they follow from the branches";
        problems.push(Problem::new(Code::UnknownAction, pointer.clone(), message).help(help));
    }
}
