//! Settings that do nothing for their node.

use crate::diagnostic::Code;
use crate::document::problem::Problem;
use crate::document::{NodeDocument, types};

use super::object::Object;

/// Reports settings that do nothing for a node, in the words of `flow!`.
pub(super) fn check(node: &NodeDocument, object: &mut Object<'_, '_>) {
    let name = node.r#type.as_str();
    let (is_loop, is_fork) = (name == types::EACH, name == types::FORK);
    let has_attempts = ![types::FORK, types::BRANCH, types::WAIT].contains(&name);
    let has_code = !types::ALL.contains(&name) && !node.is_flow();
    let id = &node.id;
    let settings = &node.settings;
    let mut nothing = |setting: &str, message: String, help: &str| {
        let pointer = format!("{}/{setting}", object.at("settings"));
        let problem = Problem::new(Code::NamesNothing, pointer, message).of_name();
        object.problems.push(problem.help(help));
    };
    let attempts = [
        ("retry", settings.retry.is_some()),
        ("timeout", settings.timeout.is_some()),
    ];
    for (setting, _) in attempts.into_iter().filter(|(_, is_given)| *is_given) {
        if !has_attempts {
            let message = format!("`{id}` makes no attempts of its own");
            nothing(setting, message, "give this setting to a node that works");
        }
    }
    if settings.concurrency.is_some() && !(is_loop || is_fork) {
        let message = format!("`concurrency` does nothing for `{id}`, which is a single step");
        let help = "it is a setting of a fork or of a loop over items";
        nothing("concurrency", message, help);
    }
    let of_loops = [
        ("spread", settings.spread.is_some()),
        ("collectErrors", settings.collect_errors),
    ];
    for (setting, _) in of_loops.into_iter().filter(|(_, is_given)| *is_given) {
        if !is_loop {
            let message = format!("`{setting}` does nothing for `{id}`");
            nothing(setting, message, "it is a setting of a loop over items");
        }
    }
    let of_code = [
        ("poll", settings.poll.is_some()),
        ("blocking", settings.blocking),
        ("transaction", settings.transaction),
    ];
    for (setting, _) in of_code.into_iter().filter(|(_, is_given)| *is_given) {
        if !has_code && name != types::HUMAN {
            let message = format!("`{setting}` does nothing for `{id}`");
            nothing(setting, message, "it is a setting of a node that is code");
        }
    }
    if node.is_flow() && !node.params.is_empty() {
        let message = format!("`{id}` is a flow, and has no settings of its own in `params`");
        let pointer = object.at("params");
        let help = "remove it; what the flow needs are its `inputs`";
        let problem = Problem::new(Code::NamesNothing, pointer, message).of_name();
        object.problems.push(problem.help(help));
    }
}
