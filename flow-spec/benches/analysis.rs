//! How long it takes to check a large flow, and how that grows with its size.
//!
//! The flow is a row of groups of four nodes: `ask` chooses between `left` and `right`, which write
//! the same key, and `join` reads it. Every node has three edges, some of which go back: most to a
//! place near by, some to anywhere. Every node reads keys written shortly before and keys written
//! at the very start; every fourth read takes the value.

use std::time::{Duration, Instant};

use flow_spec::{
    Action, Edge, EdgeSource, EdgeTarget, Graph, Node, NodeId, NodeKind, NodeRead, NodeWrite,
    ReadMode, check,
};

/// Keys that are written at the start and read everywhere.
const SETTINGS: usize = 20;

const ROUNDS: usize = 7;

fn main() {
    println!("{:>8} {:>8} {:>10} {:>7}", "nodes", "edges", "ms", "ratio");
    let mut before: Option<Duration> = None;
    for groups in [312, 625, 1250, 2500, 5000, 10_000] {
        let graph = flow(groups);
        let (nodes, edges) = (graph.nodes.len(), graph.edges.len());
        let time = (0..ROUNDS)
            .map(|_| measure(graph.clone()))
            .min()
            .unwrap_or_default();
        let ratio = before.map_or(String::new(), |before| {
            format!("{:.2}", time.as_secs_f64() / before.as_secs_f64())
        });
        println!(
            "{nodes:>8} {edges:>8} {:>10.2} {ratio:>7}",
            time.as_secs_f64() * 1000.0
        );
        before = Some(time);
    }
}

fn measure(graph: Graph) -> Duration {
    let start = Instant::now();
    let checked = check(graph);
    let time = start.elapsed();
    if let Err(found) = checked {
        panic!("the flow is meant to be sound: {}", found[0]);
    }
    time
}

/// A sound flow of 4 × `groups` nodes with three edges each.
fn flow(groups: usize) -> Graph {
    let mut random = Random(7);
    let mut graph = Graph {
        name: "Large".to_owned(),
        ..Graph::default()
    };
    let first = Node {
        name: "prepare".to_owned(),
        kind: NodeKind::Step,
        reads: Vec::new(),
        actions: vec![action(
            "default",
            (0..SETTINGS).map(|at| format!("setting_{at}")),
        )],
        fallible: false,
        undo: None,
        was: None,
    };
    graph.nodes.push(first);
    graph.edges.push(Edge {
        from: EdgeSource::Start,
        action: None,
        to: EdgeTarget::Node(NodeId(0)),
        mappings: Vec::new(),
    });
    graph.edges.push(Edge {
        from: EdgeSource::Node(NodeId(0)),
        action: None,
        to: EdgeTarget::Node(NodeId(1)),
        mappings: Vec::new(),
    });
    for group in 0..groups {
        add_group(&mut graph, &mut random, group, groups);
    }
    graph
}

fn add_group(graph: &mut Graph, random: &mut Random, group: usize, groups: usize) {
    let ask = graph.nodes.len();
    let (left, right, join) = (ask + 1, ask + 2, ask + 3);
    let (asked, answer, joined) = (
        format!("asked_{group}"),
        format!("answer_{group}"),
        format!("joined_{group}"),
    );
    let earlier = format!("joined_{}", group.saturating_sub(1 + random.below(3)));
    let earlier = if group == 0 {
        "setting_0".to_owned()
    } else {
        earlier
    };
    let mut setting = || format!("setting_{}", random.below(SETTINGS));

    let reads = [
        vec![earlier.clone(), setting()],
        vec![asked.clone(), earlier.clone(), setting()],
        vec![asked.clone(), earlier.clone(), setting()],
        vec![asked.clone(), answer.clone(), setting()],
    ];
    let writes = [asked, answer.clone(), answer, joined];
    let names = ["ask", "left", "right", "join"];
    for (at, ((reads, key), name)) in reads.into_iter().zip(writes).zip(names).enumerate() {
        let reads = reads.into_iter().enumerate().map(|(which, key)| {
            let is_taken = (ask + at + which).is_multiple_of(4);
            let mode = if is_taken {
                ReadMode::Take
            } else {
                ReadMode::Borrow
            };
            NodeRead {
                key,
                mode,
                optional: false,
                rust_type: "String".to_owned(),
                mapped: false,
            }
        });
        graph.nodes.push(Node {
            name: format!("{name}_{group}"),
            kind: NodeKind::Step,
            reads: reads.collect(),
            actions: ["next", "other", "back"]
                .map(|name| action(name, [key.clone()]))
                .into(),
            fallible: false,
            undo: None,
            was: None,
        });
    }

    let node = |id: usize| EdgeTarget::Node(NodeId(id));
    let next = if group + 1 == groups {
        EdgeTarget::End("default".to_owned())
    } else {
        node(join + 1)
    };
    let ways = [
        (ask, node(left), node(right)),
        (left, node(join), node(ask)),
        (right, node(join), node(ask)),
        (join, next, node(ask)),
    ];
    for (id, next, other) in ways {
        let reach = if random.below(10) == 0 {
            group + 1
        } else {
            10.min(group + 1)
        };
        let back = ask - 4 * random.below(reach);
        // Into the middle of a group: behind the choice, before what it wrote is read.
        let back = if back < ask && random.below(4) == 0 {
            node(back + 3)
        } else {
            node(back)
        };
        for (name, to) in [("next", next), ("other", other), ("back", back)] {
            graph.edges.push(Edge {
                from: EdgeSource::Node(NodeId(id)),
                action: Some(name.to_owned()),
                to,
                mappings: Vec::new(),
            });
        }
    }
}

fn action(name: &str, keys: impl IntoIterator<Item = String>) -> Action {
    let write = |key| NodeWrite {
        key,
        optional: false,
        adds: false,
        rust_type: "String".to_owned(),
    };
    Action {
        name: name.to_owned(),
        writes: keys.into_iter().map(write).collect(),
    }
}

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}
