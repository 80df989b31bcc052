//! Checks that the flow has exactly one start.

use super::found::Found;
use super::words;
use crate::diagnostic::{Code, Diagnostic, Site};
use crate::graph::{DEFAULT_ACTION, Edge, EdgePart, EdgeSource, EdgeTarget, Graph};

/// Reports a missing or a second start. Returns `false` if there is none at all.
pub(super) fn check(graph: &Graph, found: &mut Found) -> bool {
    let mut starts = graph
        .edges
        .iter()
        .enumerate()
        .filter(|(_, edge)| edge.from == EdgeSource::Start);
    let Some((first_at, first)) = starts.next() else {
        found.push(no_start(graph));
        return false;
    };
    for (at, edge) in starts {
        found.push(second_start(graph, (first_at, first), (at, edge)));
    }
    true
}

fn no_start(graph: &Graph) -> Diagnostic {
    let mut reached = vec![false; graph.nodes.len()];
    for edge in &graph.edges {
        if let EdgeTarget::Node(id) = edge.to
            && let Some(reached) = reached.get_mut(id.0)
        {
            *reached = true;
        }
    }
    let sources = || graph.edges.iter().map(|edge| &edge.from);
    let first = sources()
        .find(|from| matches!(from, EdgeSource::Node(id) if reached.get(id.0) == Some(&false)))
        .or_else(|| sources().next())
        .map(|from| words::source(graph, from))
        .or_else(|| graph.nodes.first().map(|node| node.name.as_str()))
        .unwrap_or("first_step");
    Diagnostic::new(
        Code::Start,
        Site::Flow,
        "the flow has no `start`: nothing would run",
    )
    .help(format!(
        "say where it begins: `{};`",
        words::step("start", DEFAULT_ACTION, first)
    ))
}

fn second_start(graph: &Graph, first: (usize, &Edge), second: (usize, &Edge)) -> Diagnostic {
    let (left, right) = (
        words::target(graph, &first.1.to),
        words::target(graph, &second.1.to),
    );
    let (message, help) = match (&first.1.to, &second.1.to) {
        _ if left == right => (
            format!("`start >> {left}` stands here twice"),
            "remove one of them".to_owned(),
        ),
        (EdgeTarget::Node(_), EdgeTarget::Node(_)) => (
            format!("the flow starts twice: at `{left}` and at `{right}`"),
            format!("to run both at the same time, write `start >> [{left}, {right}] >> …`"),
        ),
        _ => (
            format!("the flow starts twice: with `{left}` and with `{right}`"),
            "remove one of them".to_owned(),
        ),
    };
    Diagnostic::new(Code::Start, Site::Edge(second.0, EdgePart::From), message)
        .help(help)
        .related(
            Site::Edge(first.0, EdgePart::From),
            "the first `start` is here",
        )
}
