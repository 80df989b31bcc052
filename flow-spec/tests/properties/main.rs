//! Laws of the analysis, on random graphs: it agrees with slow and obviously right definitions,
//! shows only real paths, and takes any graph whatever.

mod dice;
mod graphs;
mod reference;

use std::collections::BTreeSet;

use flow_spec::{
    Code, Compared, Diagnostic, EdgePart, EdgeSource, EdgeTarget, Graph, NodeId, NodeKind,
    ReadMode, Reader, Site, Take, check, check_types, written_at_ends,
};
use proptest::prelude::*;

use dice::{Dice, dice};
use graphs::Shown;

fn random(build: fn(&mut Dice) -> Graph) -> impl Strategy<Value = Shown> {
    dice().prop_map(move |numbers| Shown(build(&mut Dice::new(numbers))))
}

/// The text between the first and the second pair of backticks.
fn quoted(message: &str) -> Vec<&str> {
    message.split('`').skip(1).step_by(2).collect()
}

fn diagnostics(graph: &Graph) -> Vec<Diagnostic> {
    check(graph.clone()).err().unwrap_or_default()
}

fn of(code: Code, found: &[Diagnostic]) -> Vec<&Diagnostic> {
    found
        .iter()
        .filter(|diagnostic| diagnostic.code == code)
        .collect()
}

/// Whether branches use each other's keys. Only those of a fork can be in each other's way.
fn in_conflict(graph: &Graph, found: &[Diagnostic]) -> bool {
    let conflicts = of(Code::ForkConflict, found);
    for conflict in &conflicts {
        let (Site::Node(id) | Site::Undo(id)) = conflict.site else {
            panic!("{conflict}")
        };
        let around = graph.node(reference::outermost(graph, id));
        assert!(matches!(around.kind, NodeKind::Fork(_)), "{conflict}");
    }
    !conflicts.is_empty()
}

/// The edges of a path as it is printed; nothing if the graph has no such path.
fn edges_of(graph: &Graph, path: &str) -> Option<Vec<usize>> {
    let mut steps = path.split(" >> ");
    let mut at = steps.next()?.to_owned();
    let mut edges = Vec::new();
    for step in steps {
        let (from, action) = match at.split_once(" - ") {
            Some((from, action)) => (from.to_owned(), Some(action.trim_matches('"').to_owned())),
            None => (at.clone(), None),
        };
        let target = step.split(" - ").next()?;
        let edge = graph.edges.iter().position(|edge| {
            let source = match edge.from {
                EdgeSource::Start => "start",
                EdgeSource::Node(id) => &graph.node(id).name,
            };
            let to = match &edge.to {
                EdgeTarget::End(_) => "end",
                EdgeTarget::Node(id) => &graph.node(*id).name,
            };
            source == from && edge.action == action && to == target
        })?;
        edges.push(edge);
        at = step.to_owned();
    }
    Some(edges)
}

/// Whether a mapping of an edge is what reads.
fn is_mapping(diagnostic: &Diagnostic) -> bool {
    matches!(diagnostic.site, Site::Edge(_, EdgePart::Source(_)))
}

/// That the diagnostic shows a path of the graph that ends at `edge` and does not write `key`.
fn assert_witness(graph: &Graph, diagnostic: &Diagnostic, key: &str, target: &EdgeTarget) {
    let shown = "this path does not write it: ";
    let Some(path) = diagnostic
        .notes
        .iter()
        .find_map(|note| note.strip_prefix(shown))
    else {
        let needs_none = ["nothing writes", "the caller may leave out"];
        assert!(
            needs_none
                .iter()
                .any(|end| diagnostic.message.ends_with(end)),
            "{diagnostic}"
        );
        return;
    };
    let edges = edges_of(graph, path).unwrap_or_else(|| panic!("no such path: {path}"));
    assert_eq!(
        edges.first().map(|&edge| &graph.edges[edge].from),
        Some(&EdgeSource::Start),
        "{path}"
    );
    assert_eq!(
        edges.last().map(|&edge| &graph.edges[edge].to),
        Some(target),
        "{path}"
    );
    for (at, &edge) in edges.iter().enumerate() {
        let edge = &graph.edges[edge];
        let written = reference::written(graph, edge);
        assert!(!written.contains(key), "{path} writes {key}");
        // The mapping that reads may also be written on its own edge, after it has read.
        let is_reader = at + 1 == edges.len() && is_mapping(diagnostic);
        assert!(
            is_reader || !reference::maps(edge, key),
            "{path} maps {key}"
        );
    }
    // What a node writes inside stands between the edge that leads in and the one that leads out.
    for pair in edges.windows(2) {
        let EdgeTarget::Node(id) = graph.edges[pair[0]].to else {
            panic!("{path} goes on after an end")
        };
        assert_eq!(graph.edges[pair[1]].from, EdgeSource::Node(id), "{path}");
        let outcomes = reference::inside(graph, id, BTreeSet::new(), &mut |_, _| {});
        let action = graph.edges[pair[1]].action();
        let mut outcomes = outcomes.iter().filter(|(taken, _)| taken == action);
        let may_leave_out = outcomes.any(|(_, keys)| !keys.contains(key));
        assert!(may_leave_out, "{path} writes {key} inside a node");
    }
}

/// That a visit that is taken back does not write `key` with the action that the diagnostic shows.
fn assert_not_written_by(graph: &Graph, diagnostic: &Diagnostic, id: NodeId, key: &str) {
    let mut notes = diagnostic.notes.iter();
    let Some(path) = notes.find_map(|note| note.strip_prefix("this path does not write it: "))
    else {
        return;
    };
    let last = path.rsplit(" >> ").next().expect("a path");
    let action = last
        .split_once(" - ")
        .map(|(_, action)| action.trim_matches('"').to_owned());
    let is_it =
        |edge: &&flow_spec::Edge| edge.from == EdgeSource::Node(id) && edge.action == action;
    let edge = graph
        .edges
        .iter()
        .find(is_it)
        .expect("an edge of the visit");
    assert_ne!(edge.action(), "error", "{path}");
    assert!(
        !reference::written(graph, edge).contains(key),
        "{path} writes {key}"
    );
}

/// Whether what reads a cloned value later reads this key.
fn is_reader(graph: &Graph, take: Take, key: &str) -> bool {
    match take {
        Take::Move => true,
        Take::Clone { later } => match later {
            Reader::Node(id) => graph.node(id).reads.iter().any(|read| read.key == key),
            Reader::Adder(id) => {
                let actions = graph.node(id).actions.iter();
                let mut writes = actions.flat_map(|action| &action.writes);
                writes.any(|write| write.adds && write.key == key)
            }
            Reader::Edge(edge) => {
                let mut mappings = graph.edges[edge].mappings.iter();
                mappings.any(|mapping| mapping.source == key)
            }
            Reader::Output => graph.outputs.iter().any(|output| output.key == key),
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn definite_assignment_is_what_exploring_every_state_finds(Shown(graph) in random(graphs::wired)) {
        let found = diagnostics(&graph);
        if in_conflict(&graph, &found) {
            return Ok(());
        }
        let expected = reference::unassigned(&graph);

        let (mappings, reads): (Vec<&Diagnostic>, Vec<_>) =
            of(Code::UnassignedRead, &found).into_iter().partition(|one| is_mapping(one));
        let named = |name: &str| {
            let id = graph.node_ids().find(|&id| graph.node(id).name == name);
            id.expect("a node of the graph")
        };
        // A key that nothing writes is reported once, and its other readers beside it.
        let mut listed: Vec<(NodeId, String)> = Vec::new();
        for diagnostic in reads {
            let names = quoted(&diagnostic.message);
            listed.push((named(names[0]), names[1].to_owned()));
            let others = diagnostic.related.iter().filter(|(_, text)| text.ends_with("reads it too"));
            listed.extend(others.map(|(_, text)| (named(quoted(text)[0]), names[1].to_owned())));
        }
        let count = listed.len();
        let reads: BTreeSet<(NodeId, String)> = listed.into_iter().collect();
        prop_assert_eq!(&reads, &expected.reads);
        prop_assert_eq!(reads.len(), count);
        let mappings: BTreeSet<(usize, String)> = mappings
            .iter()
            .map(|diagnostic| {
                let Site::Edge(edge, _) = diagnostic.site else { panic!("{diagnostic}") };
                (edge, quoted(&diagnostic.message)[0].to_owned())
            })
            .collect();
        prop_assert_eq!(&mappings, &expected.mappings);

        let outputs: BTreeSet<(usize, String)> = of(Code::UnwrittenOutput, &found)
            .iter()
            .map(|diagnostic| {
                let Site::Edge(edge, _) = diagnostic.site else { panic!("{diagnostic}") };
                (edge, quoted(&diagnostic.message)[0].to_owned())
            })
            .collect();
        prop_assert_eq!(&outputs, &expected.outputs);
    }

    #[test]
    fn every_witness_is_a_path_that_does_not_write_the_key(Shown(graph) in random(graphs::wired)) {
        let found = diagnostics(&graph);
        for diagnostic in of(Code::UnassignedRead, &found) {
            let names = quoted(&diagnostic.message);
            if let (Site::Edge(edge, _), true) = (diagnostic.site, is_mapping(diagnostic)) {
                assert_witness(&graph, diagnostic, names[0], &graph.edges[edge].to);
                continue;
            }
            let id = graph.node_ids().find(|&id| graph.node(id).name == names[0]);
            let taken_back = match diagnostic.site {
                Site::Undo(id) | Site::Was(id) => Some(id),
                _ => None,
            };
            let id = taken_back.unwrap_or(id.expect("a node of the graph"));
            let outermost = reference::outermost(&graph, id);
            assert_witness(&graph, diagnostic, names[1], &EdgeTarget::Node(outermost));
            if taken_back == Some(outermost) {
                assert_not_written_by(&graph, diagnostic, outermost, names[1]);
            }
        }
        for diagnostic in of(Code::UnwrittenOutput, &found) {
            let Site::Edge(edge, _) = diagnostic.site else { panic!("{diagnostic}") };
            assert_witness(&graph, diagnostic, quoted(&diagnostic.message)[0], &graph.edges[edge].to);
        }
    }

    #[test]
    fn an_end_writes_what_every_state_there_has(Shown(graph) in random(graphs::sound)) {
        let Ok(checked) = check(graph.clone()) else {
            return Ok(());
        };
        let expected = reference::at_ends(&graph);
        let labels: BTreeSet<&str> = checked.ends().iter().map(|end| end.name.as_str()).collect();
        prop_assert_eq!(labels, expected.keys().map(String::as_str).collect());
        for end in checked.ends() {
            let (certain, possible) = &expected[&end.name];
            for output in &graph.outputs {
                let write = end.writes.iter().find(|write| write.key == output.key);
                let is_certain = write.is_some_and(|write| !write.optional);
                prop_assert_eq!(is_certain, certain.contains(&output.key), "{}", &output.key);
                prop_assert_eq!(write.is_some(), possible.contains(&output.key), "{}", &output.key);
            }
        }
    }

    #[test]
    fn a_value_is_moved_exactly_if_nothing_can_read_it_later(Shown(graph) in random(graphs::sound)) {
        let checked = match check(graph.clone()) {
            Ok(checked) => checked,
            Err(found) => {
                // Keys may conflict in a fork, or have no type because they are only added to.
                let expected = [Code::ForkConflict, Code::Addition];
                let other = found.iter().find(|diagnostic| !expected.contains(&diagnostic.code));
                prop_assert!(other.is_none(), "{}", other.unwrap());
                return Ok(());
            }
        };
        for id in graph.node_ids() {
            for (at, read) in graph.node(id).reads.iter().enumerate() {
                if read.mode == ReadMode::Borrow {
                    continue;
                }
                let take = checked.take(id, at);
                let is_read = reference::is_read_later(&graph, id, at);
                prop_assert_eq!(take != Take::Move, is_read, "{:?} {}: {:?}", id, &read.key, take);
                prop_assert!(is_reader(&graph, take, &read.key));
            }
        }
        for (edge, of) in graph.edges.iter().enumerate() {
            for (index, mapping) in of.mappings.iter().enumerate() {
                let take = checked.take_of_edge(edge, index);
                let is_read = reference::is_read_after_mapping(&graph, edge, index);
                prop_assert_eq!(take != Take::Move, is_read, "edge {} {}: {:?}", edge, &mapping.source, take);
                prop_assert!(is_reader(&graph, take, &mapping.source));
            }
        }
    }

    #[test]
    fn no_graph_makes_the_analysis_panic_or_hang(Shown(graph) in random(graphs::nonsense)) {
        written_at_ends(&graph);
        check_types(&graph, Compared::Standard);
        check_types(&graph, Compared::Named);
        let first = diagnostics(&graph);
        for diagnostic in &first {
            let sites = diagnostic.related.iter().map(|(site, _)| site).chain([&diagnostic.site]);
            for site in sites {
                let exists = match *site {
                    Site::Flow => true,
                    Site::Input(at) => at < graph.inputs.len(),
                    Site::Output(at) => at < graph.outputs.len(),
                    Site::Node(id) => id.0 < graph.nodes.len(),
                    Site::Read(id, at) => at < graph.nodes[id.0].reads.len(),
                    Site::Undo(id) => graph.nodes.get(id.0).is_some_and(|node| node.undo.is_some()),
                    Site::Was(id) => graph.nodes.get(id.0).is_some_and(|node| node.was.is_some()),
                    Site::Edge(at, EdgePart::Key(index) | EdgePart::Source(index)) => {
                        index < graph.edges[at].mappings.len()
                    }
                    Site::Edge(at, _) => at < graph.edges.len(),
                };
                prop_assert!(exists, "{:?}", site);
            }
        }
        prop_assert_eq!(first, diagnostics(&graph));
    }
}
