//! Checks that the settings of a node have an effect.

use crate::diagnostic::Code;
use crate::document::problem::{Problem, Problems, inside};
use crate::document::{NodeDocument, types};

/// Reports settings without an effect on a node, in the words of `flow!`.
pub(super) fn check(node: &NodeDocument, pointer: &str, problems: &mut Problems) {
    let name = node.r#type.as_str();
    let (is_loop, is_fork) = (name == types::EACH, name == types::FORK);
    let works_not = [
        types::FORK,
        types::FIRST,
        types::BRANCH,
        types::WAIT,
        types::UNDO,
        types::COMMIT,
    ];
    let has_attempts = !works_not.contains(&name);
    let has_code = !types::ALL.contains(&name) && !node.is_flow();
    let (id, settings) = (&node.id, &node.settings);
    let of_loops = "it is a setting of a loop over items";
    let of_code = "it is a setting of a node that is code";
    let attempts = "give this setting to a node that works";
    let (makes_none, does_nothing) = (
        |_: &str| format!("`{id}` makes no attempts of its own"),
        |setting: &str| format!("`{setting}` does nothing for `{id}`"),
    );
    let is_single =
        |_: &str| format!("`concurrency` does nothing for `{id}`, which is a single step");
    let mut report = |setting: &str, is_wrong: bool, message: &dyn Fn(&str) -> String, help| {
        if is_wrong && !problems.is_full() {
            let place = inside(&inside(pointer, "settings"), setting);
            let problem = Problem::new(Code::NamesNothing, place, message(setting));
            problems.push(problem.of_name().help(help));
        }
    };
    report(
        "retry",
        settings.retry.is_some() && !has_attempts,
        &makes_none,
        attempts,
    );
    let waits_once = |_: &str| format!("`{id}` waits for one signal, so there is nothing to retry");
    report(
        "retry",
        settings.retry.is_some() && name == types::SIGNAL,
        &waits_once,
        "remove `retry`; `timeout` says how long it waits",
    );
    report(
        "timeout",
        settings.timeout.is_some() && !has_attempts,
        &makes_none,
        attempts,
    );
    report(
        "concurrency",
        settings.concurrency.is_some() && !(is_loop || is_fork),
        &is_single,
        "it is a setting of a fork or of a loop over items",
    );
    report(
        "spread",
        settings.spread.is_some() && !is_loop,
        &does_nothing,
        of_loops,
    );
    report(
        "collectErrors",
        settings.collect_errors && !is_loop,
        &does_nothing,
        of_loops,
    );
    let is_answered = has_code || name == types::HUMAN;
    let without_was = [types::BRANCH, types::WAIT, types::UNDO, types::COMMIT];
    let not_renamed = |_: &str| format!("`{id}`, a `{name}`, cannot have a former name");
    report(
        "was",
        settings.was.is_some() && without_was.contains(&name),
        &not_renamed,
        "remove `was`, and keep the id that the node had",
    );
    report(
        "poll",
        settings.poll.is_some() && !is_answered,
        &does_nothing,
        of_code,
    );
    report(
        "blocking",
        settings.blocking && !is_answered,
        &does_nothing,
        of_code,
    );
    report(
        "transaction",
        settings.transaction && !is_answered,
        &does_nothing,
        of_code,
    );
}
