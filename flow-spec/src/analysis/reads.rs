//! Checks that the values that a node reads are written on every path to it.

use std::collections::HashSet;

use super::assignment::{Assignment, Unassigned};
use super::found::Found;
use super::keys::Key;
use super::model::Model;
use super::points::point_of;
use super::routes::{Effect, Source};
use super::suggestions::{Suggestions, exists};
use super::taken_back::TakenBack;
use super::{unwritten, words};
use crate::diagnostic::{Code, Diagnostic, MOST_NOTES, Site};
use crate::graph::{
    Action, ERROR_ACTION, ERROR_KEY, EdgePart, NodeId, NodeKind, NodeRead, NodeWrite,
};

/// Reports each read that some path does not write, once for each node and key.
pub(super) fn check(
    model: &Model<'_>,
    suggestions: &Suggestions<'_>,
    reached: &[bool],
    assignment: &mut Assignment<'_>,
    found: &mut Found,
) {
    for key in model.keys.iter().filter(|key| !key.given) {
        if is_left_to_others(model, key, reached) {
            continue;
        }
        let mut readers: Vec<(NodeId, usize)> = Vec::new();
        for &(id, at) in &key.reads {
            let is_required = !model.graph.node(id).reads[at].optional
                && (model.undos.places(&id).iter()).all(|&place| {
                    let writer = model.forks.writes_meanwhile(&model.shape, place, key.name);
                    writer.is_none()
                });
            if is_required && readers.last().is_none_or(|&(last, _)| last != id) {
                readers.push((id, at));
            }
        }
        // What another branch adds is not seen here.
        let (beside, readers): (Vec<_>, Vec<_>) = readers
            .into_iter()
            .partition(|&(id, _)| adds_beside(model, key, id).is_some());
        for reader in beside {
            let mut places = model.undos.places(&reader.0).iter();
            let missing = places.find_map(|&place| {
                let missing = missing_at(model, assignment, key, reader.0, place)?;
                Some((place, missing))
            });
            let Some((place, missing)) = missing else {
                continue;
            };
            let mut diagnostic = unassigned(model, suggestions, key, reader, &missing);
            if let Some(adder) = model.forks.adds_meanwhile(&model.shape, place, key.name) {
                let adder = &model.graph.node(adder).name;
                diagnostic = diagnostic.note(format!(
                    "what `{adder}` adds at the same time is not seen in this branch"
                ));
            }
            found.push(diagnostic);
        }
        let asked: Vec<usize> = readers.iter().map(|&(id, _)| point_of(id)).collect();
        // Without a writer it is one mistake: the other reads are listed with the first.
        let is_everywhere = !exists(key) && key.name != ERROR_KEY;
        let mut first: Option<Diagnostic> = None;
        for missing in assignment.unassigned(&key.written_at, &asked) {
            if found.is_full() {
                return;
            }
            let (id, at) = readers[missing.asked];
            match first.take() {
                Some(one) if is_everywhere => {
                    let text = format!("`{}` reads it too", model.graph.node(id).name);
                    first = Some(one.related(Site::Node(id), text));
                }
                earlier => {
                    if let Some(earlier) = earlier {
                        found.push(earlier);
                    }
                    first = Some(unassigned(model, suggestions, key, (id, at), &missing));
                }
            }
        }
        if let Some(last) = first {
            found.push(last);
        }
    }
}

/// A node in another branch of a fork around a node that adds to the key at the same time.
fn adds_beside(model: &Model<'_>, key: &Key<'_>, id: NodeId) -> Option<NodeId> {
    let mut places = model.undos.places(&id).iter();
    places.find_map(|&place| model.forks.adds_meanwhile(&model.shape, place, key.name))
}

/// A path on which a key is missing when the node reads at this place: its own, or that of a node
/// that it takes back.
fn missing_at(
    model: &Model<'_>,
    assignment: &mut Assignment<'_>,
    key: &Key<'_>,
    id: NodeId,
    place: NodeId,
) -> Option<Unassigned> {
    let written_at = written_for(model, key, place);
    if !model.undos.is_undo(id) {
        return assignment.unassigned(&written_at, &[point_of(id)]).next();
    }
    let is_here = |at| TakenBack::before(model, at).is_some_and(|visit| visit.node == place);
    let done = model.points.predecessors.of(point_of(id)).iter().copied();
    let done = done.filter(|&at| is_here(at) && !written_at.contains(&at));
    let done: Vec<usize> = done.collect();
    let missing = assignment.unassigned(&written_at, &done).next()?;
    let before = done[missing.asked];
    Some(Unassigned { before, ..missing })
}

/// The points that always write a key, as a node sees it: without those that add to it in other
/// branches of the forks around the node.
pub(super) fn written_for(model: &Model<'_>, key: &Key<'_>, id: NodeId) -> Vec<usize> {
    let is_beside = |at: usize| {
        let mut added = key.added_at.iter();
        added.any(|&(point, adder)| point == at && model.shape.are_beside(adder, id))
    };
    let written_at = key.written_at.iter().copied();
    written_at.filter(|&at| !is_beside(at)).collect()
}

/// Returns `true` if only unreachable nodes or undo nodes write it, which is reported already.
pub(super) fn is_left_to_others(model: &Model<'_>, key: &Key<'_>, reached: &[bool]) -> bool {
    let nodes = key.writers.iter();
    let nodes = nodes.map(|&id| point_of(model.shape.outermost(id)));
    let mut writers = nodes.chain(key.mapped_at.iter().map(|&(at, _)| at));
    let is_written = !key.writers.is_empty() || !key.mapped_at.is_empty() || key.by_undo;
    key.input.is_none() && is_written && !writers.any(|at| reached[at])
}

fn unassigned(
    model: &Model<'_>,
    suggestions: &Suggestions<'_>,
    key: &Key<'_>,
    (id, at): (NodeId, usize),
    missing: &Unassigned,
) -> Diagnostic {
    let graph = model.graph;
    let node = graph.node(id);
    let read = &node.reads[at];
    let is_undo = model.undos.is_undo(id);
    let taken_back = is_undo
        .then(|| TakenBack::before(model, missing.before))
        .flatten();
    let exists = exists(key);
    let site = match missing.path.last() {
        // The mistake is in the name.
        _ if !exists && key.name != ERROR_KEY => Site::Read(id, at),
        _ if let Some(taken_back) = &taken_back => Site::Undo(taken_back.node),
        Some(&last) if model.shape.place(id).is_none() => Site::Edge(last, EdgePart::To),
        _ => Site::Node(id),
    };
    let what = format!("`{}` reads `{}`", node.name, key.name);
    let path = match &taken_back {
        Some(taken_back) if model.shape.place(taken_back.node).is_none() => {
            words::path_out(graph, &missing.path)
        }
        _ => words::path(graph, &missing.path),
    };
    let path = format!("this path does not write it: {path}");
    let report = |message: String| Diagnostic::new(Code::UnassignedRead, site, message);
    let not_everywhere = match &taken_back {
        Some(taken_back) => format!("{what}, {}", taken_back.is_missing(graph)),
        None => format!("{what}, which is not written on every path to it"),
    };

    if key.name == ERROR_KEY {
        let reader = taken_back.map_or(id, |taken_back| taken_back.node);
        return report(not_everywhere).note(path).help(error_help(
            model,
            (id, reader),
            read,
            missing,
        ));
    }
    if let Some(input) = key.input {
        let mut diagnostic = report(format!("{what}, which the caller may leave out"))
            .help(optional_input_help(
                model,
                id,
                read,
                &graph.inputs[input].rust_type,
            ))
            .related(
                Site::Input(input),
                format!("`{}` is declared as an `Option` here", key.name),
            );
        if !key.written_at.is_empty() {
            diagnostic = diagnostic.note(path);
        }
        return diagnostic;
    }
    if !exists {
        let help = unwritten::help(model, suggestions, key, (id, read));
        return report(format!("{what}, which nothing writes")).help(help);
    }
    let diagnostic = report(not_everywhere).note(path);
    explain(model, key, &missing.path, diagnostic).help(words::supply(graph, id, read))
}

/// Adds the reason why a node on the path that could write the key did not write it.
pub(super) fn explain(
    model: &Model<'_>,
    key: &Key<'_>,
    path: &[usize],
    mut diagnostic: Diagnostic,
) -> Diagnostic {
    let writes = |writes: &[NodeWrite]| writes.iter().any(|write| write.key == key.name);
    let writers: HashSet<NodeId> = key
        .writers
        .iter()
        .map(|&writer| model.shape.outermost(writer))
        .collect();
    let mut explained = HashSet::new();
    for &edge in path {
        let route = model.routes.edges[edge];
        let (Source::Node(id) | Source::Failed(id)) = route.from else {
            continue;
        };
        if !writers.contains(&id) || !explained.insert(id) {
            continue;
        }
        if explained.len() > MOST_NOTES {
            break;
        }
        let node = model.graph.node(id);
        let of_race = actions_that_write(model, id, key);
        let on = node.actions.iter().filter(|action| writes(&action.writes));
        let note = match route.effect {
            Effect::Action(_, action)
                if !of_race.is_empty()
                    && !of_race.contains(&node.actions[action].name.as_str()) =>
            {
                format!(
                    "`{}` writes `{}` only on {}",
                    node.name,
                    key.name,
                    words::quoted(of_race)
                )
            }
            _ if !of_race.is_empty() => {
                format!("not every branch of `{}` writes `{}`", node.name, key.name)
            }
            Effect::Failure => format!(
                "`{}` has failed on this path, so it wrote nothing",
                node.name
            ),
            Effect::Action(_, action) if !writes(&node.actions[action].writes) => {
                let on = words::quoted(on.map(|action| action.name.as_str()));
                format!("`{}` writes `{}` only on {on}", node.name, key.name)
            }
            _ => format!("`{}` may leave `{}` unwritten", node.name, key.name),
        };
        diagnostic = diagnostic.note(note);
    }
    diagnostic
}

/// The actions of a race whose branches write a key. Empty for other nodes.
fn actions_that_write<'m>(model: &'m Model<'_>, id: NodeId, key: &Key<'_>) -> Vec<&'m str> {
    let graph = model.graph;
    let NodeKind::Race(branches) = &graph.node(id).kind else {
        return Vec::new();
    };
    let writes = |action: &Action| action.writes.iter().any(|write| write.key == key.name);
    let mut found = Vec::new();
    for (branch, chain) in branches.iter().zip(model.shape.chains(id)) {
        let Some((last, before)) = chain.split_last() else {
            continue;
        };
        let mut before = before.iter().flat_map(|&node| &graph.node(node).actions);
        let always = before.any(writes);
        let last = graph.node(*last).actions.iter();
        let last = last.filter(|action| always || writes(action));
        for action in last {
            let name = branch.action.as_ref().unwrap_or(&action.name).as_str();
            if !found.contains(&name) {
                found.push(name);
            }
        }
    }
    found
}

/// The help for a read of `error`, by a node that stands where `place` does.
fn error_help(
    model: &Model<'_>,
    (id, place): (NodeId, NodeId),
    read: &NodeRead,
    missing: &Unassigned,
) -> String {
    let graph = model.graph;
    let last = missing
        .path
        .last()
        .map(|&edge| model.routes.edges[edge].from);
    let fallible = match last {
        Some(Source::Node(before)) if graph.node(before).fallible && before != place => {
            Some(before)
        }
        _ => graph
            .node_ids()
            .find(|&other| ![id, place].contains(&other) && graph.node(other).fallible),
    };
    let before = fallible.map_or("a_step", |before| words::name(graph, before));
    let edge = words::step(
        before,
        ERROR_ACTION,
        words::name(graph, model.shape.outermost(place)),
    );
    let mut help = format!("it exists only where an \"{ERROR_ACTION}\" edge leads: `{edge}`");
    if let Some(optional) = words::optional(graph, id, read) {
        help.push_str(&format!("; where other edges lead there too, {optional}"));
    }
    help
}

fn optional_input_help(model: &Model<'_>, id: NodeId, read: &NodeRead, rust_type: &str) -> String {
    let input = format!("make the input required: `{}: {rust_type}`", read.key);
    match words::optional(model.graph, id, read) {
        Some(optional) => format!("{optional}, or {input}"),
        None => input,
    }
}
