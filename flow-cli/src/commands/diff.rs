//! `cargo flow diff`: shows changes between two versions, and what they break.

use flow_spec::diff::{Change, Diff as Changes};
use flow_spec::{FlowDocument, visible_json};
use serde_json::{Value, json};

use super::heading;
use crate::args::Diff;
use crate::style::{BAD, GOOD};
use crate::{Error, Outcome, Screen, Text, target};

pub(crate) fn diff(options: &Diff, screen: &mut Screen<'_>) -> Result<Outcome, Error> {
    let old = target::sound(&options.old)?;
    #[cfg(feature = "executions")]
    if let Some(store) = &options.store {
        let broken = super::executions::broken_by(store, old.as_slice())?;
        return shown(&broken, options.json, screen);
    }
    let new = match &options.new {
        Some(path) => target::sound(path)?,
        None => target::of_package(&options.build)?,
    };
    let pairs = pairs(old.as_slice(), new.as_slice());
    let compared: Vec<Compared<'_>> = pairs.into_iter().filter_map(compare).collect();
    let breaking = compared.iter().any(Compared::is_breaking);
    if options.json {
        let flows: Value = compared.iter().map(Compared::as_json).collect();
        let json = json!({ "breaking": breaking, "flows": flows });
        screen.data(&visible_json(format!("{json:#}\n")))?;
    } else if compared.is_empty() {
        screen.show(&Text::line("no changes"))?;
    } else {
        let mut text = Text::default();
        for (index, compared) in compared.iter().enumerate() {
            if index > 0 {
                text.end_line();
            }
            compared.push_to(&mut text);
        }
        screen.show(&text)?;
    }
    Ok(if breaking {
        Outcome::Found
    } else {
        Outcome::Fine
    })
}

/// Shows the executions that a version breaks, and why.
#[cfg(feature = "executions")]
fn shown(
    broken: &[(String, Vec<String>)],
    json: bool,
    screen: &mut Screen<'_>,
) -> Result<Outcome, Error> {
    if json {
        let all = broken.iter();
        let all: Value = all
            .map(|(id, changes)| json!({ "execution": id, "changes": changes }))
            .collect();
        let json = json!({ "breaking": !broken.is_empty(), "executions": all });
        screen.data(&visible_json(format!("{json:#}\n")))?;
    } else if broken.is_empty() {
        screen.show(&Text::line("all executions can continue"))?;
    } else {
        let mut text = Text::default();
        for (id, changes) in broken {
            text.push_styled(BAD, id)
                .push(" may not continue:")
                .end_line();
            for change in changes {
                let change = flow_spec::visible(change);
                text.push("  ").push(change).end_line();
            }
        }
        screen.show(&text)?;
    }
    Ok(if broken.is_empty() {
        Outcome::Fine
    } else {
        Outcome::Found
    })
}

/// Adds what this command shows for two versions of a flow. Returns `false` if nothing has changed.
pub(super) fn push_changes(text: &mut Text, old: &FlowDocument, new: &FlowDocument) -> bool {
    let compared = compare(Pair::Both(old, new));
    if let Some(compared) = &compared {
        compared.push_to(text);
    }
    compared.is_some()
}

/// Decides whether two flows belong together.
type Rule = fn(&FlowDocument, &FlowDocument) -> bool;

/// A flow in both versions, or in one of them.
#[derive(Clone, Copy)]
enum Pair<'a> {
    Both(&'a FlowDocument, &'a FlowDocument),
    Old(&'a FlowDocument),
    New(&'a FlowDocument),
}

/// The result of comparing a flow.
enum Compared<'a> {
    Changed(&'a FlowDocument, Changes),
    Removed(&'a FlowDocument),
    Added(&'a FlowDocument),
}

/// Returns the flows that belong together, in the order of the new version, followed by those that
/// were removed.
///
/// A single flow on each side is a pair, whatever the names. Otherwise, two flows belong together
/// if they have the same namespace, or at least the same name. A match in both takes precedence.
fn pairs<'a>(old: &'a [FlowDocument], new: &'a [FlowDocument]) -> Vec<Pair<'a>> {
    if let ([old], [new]) = (old, new) {
        return vec![Pair::Both(old, new)];
    }
    let rules: [Rule; 3] = [same_namespace_and_name, same_namespace, same_name];
    let mut partners: Vec<Option<usize>> = vec![None; new.len()];
    let mut taken = vec![false; old.len()];
    for rule in rules {
        for (new, partner) in new.iter().zip(&mut partners) {
            let fits = |(old, taken): (&FlowDocument, &bool)| {
                partner.is_none() && !taken && rule(old, new)
            };
            let found = old.iter().zip(&taken).position(fits);
            if let Some(index) = found {
                taken[index] = true;
                *partner = Some(index);
            }
        }
    }
    let kept = new
        .iter()
        .zip(partners)
        .map(|(new, partner)| match partner {
            Some(index) => Pair::Both(&old[index], new),
            None => Pair::New(new),
        });
    let gone = old.iter().zip(taken).filter(|(_, taken)| !taken);
    kept.chain(gone.map(|(old, _)| Pair::Old(old))).collect()
}

fn same_namespace(old: &FlowDocument, new: &FlowDocument) -> bool {
    !old.namespace.is_empty() && old.namespace == new.namespace
}

fn same_name(old: &FlowDocument, new: &FlowDocument) -> bool {
    !old.name.is_empty() && old.name == new.name
}

fn same_namespace_and_name(old: &FlowDocument, new: &FlowDocument) -> bool {
    same_namespace(old, new) && same_name(old, new)
}

/// Returns the result for a flow, or `None` if it has not changed.
fn compare(pair: Pair<'_>) -> Option<Compared<'_>> {
    match pair {
        Pair::New(flow) => Some(Compared::Added(flow)),
        Pair::Old(flow) => Some(Compared::Removed(flow)),
        Pair::Both(old, new) => {
            let changes = flow_spec::diff(old, new);
            if changes.is_empty() {
                None
            } else {
                Some(Compared::Changed(new, changes))
            }
        }
    }
}

impl Compared<'_> {
    fn flow(&self) -> &FlowDocument {
        match self {
            Compared::Changed(flow, _) | Compared::Removed(flow) | Compared::Added(flow) => flow,
        }
    }

    fn is_breaking(&self) -> bool {
        match self {
            Compared::Changed(_, changes) => changes.is_breaking(),
            Compared::Removed(_) => true,
            Compared::Added(_) => false,
        }
    }

    fn as_json(&self) -> Value {
        let flow = self.flow();
        let (what, changes) = match self {
            Compared::Changed(_, changes) => ("changed", json!(changes.changes)),
            Compared::Removed(_) => ("removed", json!([])),
            Compared::Added(_) => ("added", json!([])),
        };
        json!({
            "name": flow.title(),
            "namespace": flow.namespace,
            "kind": what,
            "breaking": self.is_breaking(),
            "changes": changes,
        })
    }

    fn push_to(&self, text: &mut Text) {
        text.append(&heading(self.flow()));
        let (mut breaking, mut compatible) = (Vec::new(), Vec::new());
        match self {
            Compared::Removed(_) => breaking.push("the flow was removed".to_owned()),
            Compared::Added(_) => compatible.push("the flow was added".to_owned()),
            Compared::Changed(_, changes) => {
                let (breaks, fits): (Vec<&Change>, Vec<&Change>) = changes
                    .changes
                    .iter()
                    .partition(|change| change.is_breaking());
                breaking.extend(breaks.iter().map(ToString::to_string));
                compatible.extend(fits.iter().map(ToString::to_string));
            }
        }
        for (title, style, changes) in [
            ("breaking", BAD, breaking),
            ("compatible", GOOD, compatible),
        ] {
            if changes.is_empty() {
                continue;
            }
            text.push("  ")
                .push_styled(style, title)
                .push(":")
                .end_line();
            for change in changes {
                text.push("    ").push(change).end_line();
            }
        }
    }
}
