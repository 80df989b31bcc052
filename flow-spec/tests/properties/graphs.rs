//! Random graphs: wired at random but well-formed, sound, and nonsensical.

use std::collections::HashSet;
use std::fmt;

use flow_spec::{
    Action, Branch, Edge, EdgeMapping, EdgeSource, EdgeTarget, Graph, Input, Node, NodeId,
    NodeKind, NodeRead, NodeWrite, Output, RaceBranch, ReadMode,
};

use crate::dice::Dice;
use crate::reference;

const KEYS: [&str; 4] = ["red", "green", "blue", "violet"];
const ACTIONS: [&str; 3] = ["default", "yes", "no"];

/// A graph, printed so that one can see what is wrong.
pub(crate) struct Shown(pub(crate) Graph);

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Graph {
            inputs,
            outputs,
            nodes,
            edges,
            ..
        } = &self.0;
        let inputs: Vec<_> = inputs
            .iter()
            .map(|input| (&input.key, input.optional))
            .collect();
        let outputs: Vec<_> = outputs
            .iter()
            .map(|output| (&output.key, output.optional))
            .collect();
        writeln!(f, "inputs {inputs:?} outputs {outputs:?}")?;
        for node in nodes {
            let reads: Vec<_> = node
                .reads
                .iter()
                .map(|read| (&read.key, read.mode, read.optional))
                .collect();
            writeln!(
                f,
                "{}: {:?} reads {reads:?} fallible {} undo {:?}",
                node.name, node.kind, node.fallible, node.undo
            )?;
            for action in &node.actions {
                let writes: Vec<_> = action
                    .writes
                    .iter()
                    .map(|write| (&write.key, write.optional))
                    .collect();
                writeln!(f, "    {:?} writes {writes:?}", action.name)?;
            }
        }
        for edge in edges {
            write!(f, "{:?} - {:?} >> {:?}", edge.from, edge.action(), edge.to)?;
            for EdgeMapping { key, source } in &edge.mappings {
                write!(f, " {key} <- {source}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// Every edge is for an action of its node, but it may lead anywhere, and keys may be missing.
pub(crate) fn wired(dice: &mut Dice) -> Graph {
    let mut graph = nodes(dice);
    let top = graph.nodes.len();
    for id in 0..top {
        compose(dice, &mut graph, NodeId(id));
    }
    take_back(dice, &mut graph);
    for key in KEYS {
        if dice.one_in(4) {
            let optional = dice.one_in(2);
            graph.inputs.push(Input {
                key: key.into(),
                optional,
                rust_type: "T".into(),
            });
        }
        if dice.one_in(3) {
            let optional = dice.one_in(3);
            graph.outputs.push(Output {
                key: key.into(),
                optional,
                rust_type: "T".into(),
            });
        }
    }
    let to = target(dice, top);
    edge(&mut graph, EdgeSource::Start, None, to);
    for id in 0..top {
        for name in routable(&graph, NodeId(id)) {
            if dice.below(8) > 0 {
                let to = target(dice, top);
                edge(&mut graph, EdgeSource::Node(NodeId(id)), Some(name), to);
            }
        }
    }
    map_edges(dice, &mut graph, |_, _| KEYS.map(str::to_owned).to_vec());
    graph
}

/// Nothing is wrong with it but perhaps a fork: it reads nothing that must be there, and all nodes lead on.
pub(crate) fn sound(dice: &mut Dice) -> Graph {
    let mut graph = nodes(dice);
    let top = graph.nodes.len();
    for id in 0..top {
        compose(dice, &mut graph, NodeId(id));
    }
    take_back(dice, &mut graph);
    for read in graph.nodes.iter_mut().flat_map(|node| &mut node.reads) {
        read.optional = true;
    }
    edge(
        &mut graph,
        EdgeSource::Start,
        None,
        EdgeTarget::Node(NodeId(0)),
    );
    for id in 0..top {
        let next = if id + 1 < top {
            EdgeTarget::Node(NodeId(id + 1))
        } else {
            EdgeTarget::End("default".into())
        };
        for (at, name) in routable(&graph, NodeId(id)).into_iter().enumerate() {
            let to = if at == 0 {
                next.clone()
            } else {
                target(dice, top)
            };
            if name != "error" || dice.one_in(2) {
                edge(&mut graph, EdgeSource::Node(NodeId(id)), Some(name), to);
            }
        }
    }
    for edge in &mut graph.edges {
        if let EdgeTarget::End(label) = &mut edge.to
            && dice.one_in(2)
        {
            *label = "other".into();
        }
    }
    for key in KEYS {
        let is_written = !reference::writers(&graph, key).is_empty();
        if dice.one_in(3) && is_written {
            graph.outputs.push(Output {
                key: key.into(),
                optional: true,
                rust_type: "T".into(),
            });
        }
    }
    // What the edge itself certainly writes is there on every path to it.
    map_edges(dice, &mut graph, |graph, edge| {
        reference::written(graph, edge).into_iter().collect()
    });
    graph
}

/// Anything at all.
pub(crate) fn nonsense(dice: &mut Dice) -> Graph {
    let names = ["a", "b", "start", "end", "default", "error", "", "[a, b]"];
    let count = dice.below(7);
    let mut graph = Graph {
        name: "a".into(),
        ..Graph::default()
    };
    for _ in 0..dice.below(4) {
        let (key, optional) = (dice.pick(&names).into(), dice.one_in(2));
        graph.inputs.push(Input {
            key,
            optional,
            rust_type: dice.pick(&names).into(),
        });
        let (key, optional) = (dice.pick(&names).into(), dice.one_in(2));
        graph.outputs.push(Output {
            key,
            optional,
            rust_type: dice.pick(&names).into(),
        });
    }
    for _ in 0..count {
        let kind = match dice.below(9) {
            0 => NodeKind::Step,
            1 => NodeKind::Flow(dice.pick(&names).into()),
            2 => NodeKind::Each {
                body: NodeId(dice.below(count + 1)),
                item: dice.pick(&names).into(),
                writes: Vec::new(),
            },
            3 => NodeKind::Branch,
            6 | 7 => NodeKind::Step,
            8 if dice.one_in(2) => NodeKind::Undo,
            8 => NodeKind::Commit,
            5 => NodeKind::Race(
                (0..dice.below(4))
                    .map(|_| RaceBranch {
                        chain: any_chain(dice, count),
                        action: (dice.one_in(2)).then(|| dice.pick(&names).into()),
                    })
                    .collect(),
            ),
            _ => NodeKind::Fork(
                (0..dice.below(4))
                    .map(|_| Branch {
                        chain: any_chain(dice, count),
                    })
                    .collect(),
            ),
        };
        let reads = (0..dice.below(3)).map(|_| read(dice, &names)).collect();
        let actions = (0..dice.below(4))
            .map(|_| any_action(dice, &names))
            .collect();
        graph.nodes.push(Node {
            name: dice.pick(&names).into(),
            kind,
            reads,
            actions,
            fallible: dice.one_in(2),
            undo: (dice.one_in(3)).then(|| NodeId(dice.below(count + 1))),
            was: (dice.one_in(6)).then(|| dice.pick(&names).into()),
        });
    }
    for _ in 0..dice.below(12) {
        let from = if dice.one_in(4) {
            EdgeSource::Start
        } else {
            EdgeSource::Node(NodeId(dice.below(count + 2)))
        };
        let action = if dice.one_in(2) {
            Some(dice.pick(&names).to_owned())
        } else {
            None
        };
        let to = if dice.one_in(3) {
            EdgeTarget::End(dice.pick(&names).into())
        } else {
            EdgeTarget::Node(NodeId(dice.below(count + 2)))
        };
        let mappings = (0..dice.below(3)).map(|_| mapping(dice, &names, &names));
        let mappings = mappings.collect();
        graph.edges.push(Edge {
            from,
            action,
            to,
            mappings,
        });
    }
    graph
}

fn nodes(dice: &mut Dice) -> Graph {
    let count = 1 + dice.below(6);
    let mut graph = Graph {
        name: "Random".into(),
        ..Graph::default()
    };
    for id in 0..count {
        let actions = actions(dice);
        let reads = (0..dice.below(3)).map(|_| read(dice, &KEYS)).collect();
        let fallible = dice.one_in(2);
        graph.nodes.push(Node {
            name: format!("n{id}"),
            kind: NodeKind::Step,
            reads,
            actions,
            fallible,
            undo: None,
            was: None,
        });
    }
    graph
}

/// The actions of a node that may decide.
fn actions(dice: &mut Dice) -> Vec<Action> {
    let names = match dice.below(3) {
        0 => &ACTIONS[..1],
        1 => &ACTIONS[1..],
        _ => &ACTIONS,
    };
    names.iter().map(|name| action(dice, name, &KEYS)).collect()
}

/// Perhaps makes a fork, a race or a loop of the node, with new nodes inside.
fn compose(dice: &mut Dice, graph: &mut Graph, id: NodeId) {
    let kind = match dice.below(6) {
        3 => NodeKind::Each {
            body: leaf(dice, graph),
            item: "item".into(),
            writes: Vec::new(),
        },
        4 => NodeKind::Fork(
            (0..2)
                .map(|_| Branch {
                    chain: chain(dice, graph),
                })
                .collect(),
        ),
        5 => return race(dice, graph, id),
        _ => return,
    };
    graph.nodes[id.0].actions = vec![action(dice, "default", &KEYS)];
    graph.nodes[id.0].kind = kind;
}

fn chain(dice: &mut Dice, graph: &mut Graph) -> Vec<NodeId> {
    (0..1 + dice.below(2)).map(|_| leaf(dice, graph)).collect()
}

/// Makes a race of the node. The last node of a branch without an action may decide.
fn race(dice: &mut Dice, graph: &mut Graph, id: NodeId) {
    let mut branches = Vec::new();
    for _ in 0..2 + dice.below(2) {
        let chain = chain(dice, graph);
        let action = dice.one_in(2).then(|| dice.pick(&ACTIONS).to_owned());
        if let (None, Some(last)) = (&action, chain.last()) {
            graph.nodes[last.0].actions = actions(dice);
        }
        branches.push(RaceBranch { chain, action });
    }
    let names = graph.actions_of_race(&branches).into_iter();
    let actions = names.map(|name| Action {
        name,
        writes: Vec::new(),
    });
    graph.nodes[id.0].actions = actions.collect();
    graph.nodes[id.0].kind = NodeKind::Race(branches);
}

/// Perhaps gives steps their undo nodes, which some of them share. The bodies of loops have none.
fn take_back(dice: &mut Dice, graph: &mut Graph) {
    let count = graph.nodes.len();
    let kinds = graph.nodes.iter().map(|node| &node.kind);
    let bodies = kinds.filter_map(|kind| match kind {
        NodeKind::Each { body, .. } => Some(body.0),
        _ => None,
    });
    let bodies: HashSet<usize> = bodies.collect();
    let mut last = None;
    for id in 0..count {
        let is_step = graph.nodes[id].kind == NodeKind::Step && !bodies.contains(&id);
        if !is_step || dice.below(3) > 0 {
            continue;
        }
        let undo = match last.filter(|_| dice.one_in(3)) {
            Some(undo) => undo,
            None => {
                let undo = leaf(dice, graph);
                let name = format!("u{}", undo.0);
                for write in &mut graph.nodes[undo.0].actions[0].writes {
                    (write.key, write.adds) = (name.clone(), false);
                }
                undo
            }
        };
        graph.nodes[id].undo = Some(undo);
        last = Some(undo);
    }
}

/// A new node for the inside of a fork, race or loop.
fn leaf(dice: &mut Dice, graph: &mut Graph) -> NodeId {
    let id = NodeId(graph.nodes.len());
    let keys = ["red", "green", "blue", "violet", "item"];
    let mut reads: Vec<NodeRead> = (0..dice.below(3)).map(|_| read(dice, &keys)).collect();
    reads
        .iter_mut()
        .filter(|read| read.key == "item")
        .for_each(|read| read.optional = true);
    let actions = vec![action(dice, "default", &KEYS)];
    let fallible = dice.one_in(2);
    graph.nodes.push(Node {
        name: format!("n{}", id.0),
        kind: NodeKind::Step,
        reads,
        actions,
        fallible,
        undo: None,
        was: None,
    });
    id
}

fn read(dice: &mut Dice, keys: &[&str]) -> NodeRead {
    let mode = if dice.one_in(2) {
        ReadMode::Take
    } else {
        ReadMode::Borrow
    };
    let optional = dice.one_in(4);
    NodeRead {
        key: dice.pick(keys).into(),
        mode,
        optional,
        rust_type: "T".into(),
        mapped: false,
    }
}

fn action(dice: &mut Dice, name: &str, keys: &[&str]) -> Action {
    let write = |dice: &mut Dice| {
        let optional = dice.one_in(4);
        NodeWrite {
            key: dice.pick(keys).into(),
            optional,
            adds: dice.one_in(4),
            rust_type: "T".into(),
        }
    };
    Action {
        name: name.into(),
        writes: (0..dice.below(3)).map(|_| write(dice)).collect(),
    }
}

fn mapping(dice: &mut Dice, keys: &[&str], sources: &[&str]) -> EdgeMapping {
    EdgeMapping {
        key: dice.pick(keys).into(),
        source: dice.pick(sources).into(),
    }
}

/// Perhaps lets edges write keys that are read where they lead, from these keys.
fn map_edges(dice: &mut Dice, graph: &mut Graph, sources: impl Fn(&Graph, &Edge) -> Vec<String>) {
    for at in 0..graph.edges.len() {
        let edge = &graph.edges[at];
        let (keys, sources) = (reference::read_at(graph, &edge.to), sources(graph, edge));
        let mut mappings: Vec<EdgeMapping> = Vec::new();
        for _ in 0..dice.below(3) {
            let [keys, sources] = [&keys, &sources].map(|of| of.iter().map(String::as_str));
            let (keys, sources): (Vec<&str>, Vec<&str>) = (keys.collect(), sources.collect());
            if keys.is_empty() || sources.is_empty() {
                continue;
            }
            let one = mapping(dice, &keys, &sources);
            let is_clear = |other: &EdgeMapping| other.key != one.key && other.source != one.source;
            if mappings.iter().all(is_clear) {
                mappings.push(one);
            }
        }
        graph.edges[at].mappings = mappings;
    }
}

fn any_chain(dice: &mut Dice, count: usize) -> Vec<NodeId> {
    (0..dice.below(4))
        .map(|_| NodeId(dice.below(count + 2)))
        .collect()
}

fn any_action(dice: &mut Dice, names: &[&str]) -> Action {
    let name = dice.pick(names).to_owned();
    action(dice, &name, names)
}

fn routable(graph: &Graph, id: NodeId) -> Vec<String> {
    graph.node(id).routable().map(str::to_owned).collect()
}

fn target(dice: &mut Dice, count: usize) -> EdgeTarget {
    if dice.one_in(5) {
        EdgeTarget::End("default".into())
    } else {
        EdgeTarget::Node(NodeId(dice.below(count)))
    }
}

fn edge(graph: &mut Graph, from: EdgeSource, action: Option<String>, to: EdgeTarget) {
    let action = action.filter(|action| action != "default");
    graph.edges.push(Edge {
        from,
        action,
        to,
        mappings: Vec::new(),
    });
}
