//! Checks that no loop consists only of branches: they change no value, so a run that takes such a
//! loop once never leaves it.

use std::collections::{HashMap, VecDeque};

use super::adjacency::Adjacency;
use super::components::Components;
use super::found::Found;
use super::model::Model;
use super::points::point_of;
use super::routes::{Effect, Source, Target};
use super::words;
use crate::diagnostic::{Code, Diagnostic, Site};
use crate::graph::{EdgePart, NodeId, NodeKind};

/// An edge from a branch to a branch, which changes nothing.
#[derive(Clone, Copy)]
struct Arc {
    edge: usize,
    from: NodeId,
    to: NodeId,
}

/// Reports each loop of branches, once, at an edge of it.
pub(super) fn check(model: &Model<'_>, reached: &[bool], found: &mut Found) {
    let arcs: Vec<Arc> = (0..model.routes.edges.len())
        .filter_map(|edge| arc(model, edge))
        .collect();
    if arcs.is_empty() {
        return;
    }
    let count = model.graph.nodes.len();
    let pairs = arcs.iter().map(|arc| (arc.from.0, arc.to.0));
    let components = Components::new(&Adjacency::new(count, pairs));
    let points = &model.points;
    let ending = points.predecessors.reach(points.finals.iter().copied());
    let mut reported = vec![false; components.count()];
    let mut leaving = vec![Vec::new(); count];
    for (index, arc) in arcs.iter().enumerate() {
        leaving[arc.from.0].push(index);
    }
    for (index, arc) in arcs.iter().enumerate() {
        if found.is_full() {
            return;
        }
        let component = components.of(arc.from.0);
        let is_loop = component == components.of(arc.to.0);
        let at = point_of(arc.from);
        // A loop without any way out is reported already.
        if is_loop && reached[at] && ending[at] && !reported[component] {
            reported[component] = true;
            found.push(endless(model, &circle(&arcs, &leaving, index)));
        }
    }
}

fn arc(model: &Model<'_>, edge: usize) -> Option<Arc> {
    let route = &model.routes.edges[edge];
    let (Source::Node(from), Target::Node(to)) = (route.from, route.to) else {
        return None;
    };
    let is_branch = |id: NodeId| model.graph.node(id).kind == NodeKind::Branch;
    let is_clear = route.effect != Effect::Everything && !route.is_one_of_two;
    let maps = !model.graph.edges[edge].mappings.is_empty();
    (is_branch(from) && is_branch(to) && is_clear && !maps).then_some(Arc { edge, from, to })
}

/// The edges of a shortest loop that begins with this arc.
fn circle(arcs: &[Arc], leaving: &[Vec<usize>], first: usize) -> Vec<usize> {
    let mut before = HashMap::from([(first, None)]);
    let mut waiting = VecDeque::from([first]);
    let mut last = first;
    while let Some(at) = waiting.pop_front() {
        last = at;
        if arcs[at].to == arcs[first].from {
            break;
        }
        for &next in &leaving[arcs[at].to.0] {
            before.entry(next).or_insert_with(|| {
                waiting.push_back(next);
                Some(at)
            });
        }
    }
    let mut way = vec![arcs[last].edge];
    while let Some(Some(at)) = before.get(&last) {
        way.push(arcs[*at].edge);
        last = *at;
    }
    way.reverse();
    way
}

fn endless(model: &Model<'_>, circle: &[usize]) -> Diagnostic {
    let (first, last) = (circle[0], circle[circle.len() - 1]);
    let message = match model.routes.edges[first].from {
        Source::Node(id) if circle.len() == 1 => format!(
            "`{}` leads to itself for ever: a branch changes no value",
            words::name(model.graph, id)
        ),
        _ => "this loop never ends: it consists of branches, which change no value".to_owned(),
    };
    Diagnostic::new(Code::NoEnd, Site::Edge(last, EdgePart::To), message)
        .note(format!("the loop: {}", words::path(model.graph, circle)))
        .help("put a step into the loop that writes what a condition reads, or lead the action somewhere else")
}
