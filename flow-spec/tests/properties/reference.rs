//! What the analysis should find, defined slowly and plainly, for forks, races and loops that hold
//! steps only.

use std::collections::{BTreeMap, BTreeSet};

use flow_spec::{Edge, EdgeSource, EdgeTarget, Graph, NodeId, NodeKind};

type KeySet = BTreeSet<String>;

/// What may be missing where it is needed.
pub(crate) struct Unassigned {
    /// Reads, by node and key.
    pub(crate) reads: BTreeSet<(NodeId, String)>,
    /// Outputs, by the edge to the end and the key.
    pub(crate) outputs: BTreeSet<(usize, String)>,
    /// What mappings read, by the edge and the key.
    pub(crate) mappings: BTreeSet<(usize, String)>,
}

/// Explores every state that a run can be in: where it is and which keys are written. Tells of each
/// read of a missing key, by a node or by a mapping of an edge, and of the keys that are written
/// when it ends by an edge; the nodes that it reaches.
fn explore(
    graph: &Graph,
    missing: &mut dyn FnMut(NodeId, &str),
    unmapped: &mut dyn FnMut(usize, &str),
    ended: &mut dyn FnMut(usize, &KeySet),
) -> BTreeSet<NodeId> {
    let inputs: KeySet = graph
        .inputs
        .iter()
        .filter(|input| !input.optional)
        .map(|input| input.key.clone())
        .collect();
    let mut reached: BTreeSet<NodeId> = BTreeSet::new();
    let mut seen: BTreeSet<(Option<NodeId>, KeySet)> = BTreeSet::new();
    let mut waiting = vec![(None, inputs)];
    while let Some((at, keys)) = waiting.pop() {
        if !seen.insert((at, keys.clone())) {
            continue;
        }
        let outcomes = match at {
            None => vec![("default".to_owned(), keys)],
            Some(id) => {
                reached.insert(id);
                inside(graph, id, keys, missing)
            }
        };
        let from = at.map_or(EdgeSource::Start, EdgeSource::Node);
        let edges = graph.edges.iter().enumerate();
        for (number, edge) in edges.filter(|(_, edge)| edge.from == from) {
            let outcomes = outcomes.iter();
            for (_, keys) in outcomes.filter(|(action, _)| action == edge.action()) {
                let mut keys = keys.clone();
                keys.extend(written(graph, edge));
                let is_done = edge.action() != "error";
                if let Some(undo) = at.filter(|_| is_done).and_then(|id| graph.node(id).undo) {
                    read(graph, undo, &keys, missing);
                }
                for mapping in &edge.mappings {
                    if !keys.contains(&mapping.source) {
                        unmapped(number, &mapping.source);
                    }
                }
                keys.extend(edge.mappings.iter().map(|mapping| mapping.key.clone()));
                match &edge.to {
                    EdgeTarget::Node(id) => waiting.push((Some(*id), keys)),
                    EdgeTarget::End(_) => ended(number, &keys),
                }
            }
        }
    }
    reached
}

/// For each label of an end: the keys that are written whenever a run ends there, and those that
/// are written if every node writes all that it may write, and the caller passes all inputs.
pub(crate) fn at_ends(graph: &Graph) -> BTreeMap<String, (KeySet, KeySet)> {
    let mut generous = graph.clone();
    let actions = generous.nodes.iter_mut().flat_map(|node| &mut node.actions);
    let writes = actions.flat_map(|action| &mut action.writes);
    writes.for_each(|write| write.optional = false);
    let inputs = generous.inputs.iter_mut();
    inputs.for_each(|input| input.optional = false);

    let mut ends: BTreeMap<String, (KeySet, KeySet)> = BTreeMap::new();
    let label = |edge: usize| match &graph.edges[edge].to {
        EdgeTarget::End(label) => label.clone(),
        EdgeTarget::Node(_) => unreachable!("the edge ends the run"),
    };
    explore(graph, &mut |_, _| {}, &mut |_, _| {}, &mut |edge, keys| {
        let (certain, _) = ends
            .entry(label(edge))
            .or_insert_with(|| (keys.clone(), KeySet::new()));
        certain.retain(|key| keys.contains(key));
    });
    explore(
        &generous,
        &mut |_, _| {},
        &mut |_, _| {},
        &mut |edge, keys| {
            let (_, possible) = ends.entry(label(edge)).or_default();
            possible.extend(keys.iter().cloned());
        },
    );
    ends
}

/// What may be missing where it is needed, by exploring every state.
pub(crate) fn unassigned(graph: &Graph) -> Unassigned {
    let mut reads = BTreeSet::new();
    let mut outputs = BTreeSet::new();
    let mut mappings = BTreeSet::new();
    let reached = explore(
        graph,
        &mut |reader, key| {
            reads.insert((reader, key.to_owned()));
        },
        &mut |edge, key| {
            mappings.insert((edge, key.to_owned()));
        },
        &mut |edge, keys| {
            for output in graph.outputs.iter().filter(|output| !output.optional) {
                if !keys.contains(&output.key) {
                    outputs.insert((edge, output.key.clone()));
                }
            }
        },
    );
    let mut found = Unassigned {
        reads,
        outputs,
        mappings,
    };
    // What only unreachable nodes write is not reported, nor an output that nothing writes: other
    // codes say it.
    let is_lost = |key: &str| {
        let writers: Vec<NodeId> = writers(graph, key);
        let is_input = graph.inputs.iter().any(|input| input.key == key);
        let is_reached = |&id: &NodeId| reached.contains(&outermost(graph, id));
        let edges = graph.edges.iter().filter(|edge| maps(edge, key));
        let mut mapped = edges.map(|edge| match edge.from {
            EdgeSource::Start => true,
            EdgeSource::Node(id) => reached.contains(&id),
        });
        let is_written = !writers.is_empty() || graph.edges.iter().any(|edge| maps(edge, key));
        let is_reached = writers.iter().any(is_reached) || mapped.any(|is_reached| is_reached);
        !is_input && is_written && !is_reached
    };
    let exists = |key: &str| {
        !writers(graph, key).is_empty()
            || graph.inputs.iter().any(|input| input.key == key)
            || graph.edges.iter().any(|edge| maps(edge, key))
    };
    found.reads.retain(|(_, key)| !is_lost(key));
    found
        .outputs
        .retain(|(_, key)| !is_lost(key) && exists(key));
    found
        .mappings
        .retain(|(_, key)| !is_lost(key) && exists(key));
    found
}

/// Whether a mapping of the edge writes the key.
pub(crate) fn maps(edge: &Edge, key: &str) -> bool {
    edge.mappings.iter().any(|mapping| mapping.key == key)
}

/// The keys that are read where an edge leads, apart from the items of loops.
pub(crate) fn read_at(graph: &Graph, to: &EdgeTarget) -> Vec<String> {
    let EdgeTarget::Node(id) = to else {
        let outputs = graph.outputs.iter();
        return outputs.map(|output| output.key.clone()).collect();
    };
    let nodes = parts(graph, *id).concat();
    let reads = nodes.iter().chain([id]);
    let reads = reads.flat_map(|&id| &graph.node(id).reads);
    let keys = reads.map(|read| read.key.clone());
    keys.filter(|key| key != "item").collect()
}

/// Runs what is inside a node (and the node's own reads), telling of each read of a missing key.
/// Returns each action that the node may then take, with the keys that are there. What the node
/// itself writes is not among them.
pub(crate) fn inside(
    graph: &Graph,
    id: NodeId,
    keys: KeySet,
    missing: &mut dyn FnMut(NodeId, &str),
) -> Vec<(String, KeySet)> {
    read(graph, id, &keys, missing);
    let node = graph.node(id);
    let mut before = keys.clone();
    if let NodeKind::Each { item, .. } = &node.kind {
        before.insert(item.clone());
    }
    let mut branches = Vec::new();
    for way in ways(graph, id) {
        let mut seen = before.clone();
        for (part, action) in way.steps {
            read(graph, part, &seen, missing);
            seen.extend(certain(writes_of(graph, part, action)));
            if let Some(undo) = graph.node(part).undo {
                read(graph, undo, &seen, missing);
            }
        }
        branches.push((way.action.to_owned(), seen));
    }
    let on_each_action = |keys: KeySet| {
        let names = node.actions.iter().map(|action| action.name.clone());
        names.map(|name| (name, keys.clone())).collect()
    };
    let mut outcomes: Vec<(String, KeySet)> = match node.kind {
        NodeKind::Race(_) => branches,
        NodeKind::Fork(_) => {
            on_each_action(branches.into_iter().flat_map(|(_, keys)| keys).collect())
        }
        _ => on_each_action(keys.clone()),
    };
    outcomes.push(("error".to_owned(), keys));
    outcomes
}

/// Tells of each key that a node must read and that is missing.
fn read(graph: &Graph, id: NodeId, keys: &KeySet, missing: &mut dyn FnMut(NodeId, &str)) {
    for read in graph.node(id).reads.iter().filter(|read| !read.optional) {
        if !keys.contains(&read.key) {
            missing(id, &read.key);
        }
    }
}

fn reads(graph: &Graph, id: NodeId, key: &str) -> bool {
    graph.node(id).reads.iter().any(|read| read.key == key)
}

/// Whether the undo node of a node reads the key.
fn undo_reads(graph: &Graph, id: NodeId, key: &str) -> bool {
    let undo = graph.node(id).undo;
    undo.is_some_and(|undo| reads(graph, undo, key))
}

/// The nodes that an undo node takes back. Nothing for other nodes.
pub(crate) fn taken_back(graph: &Graph, undo: NodeId) -> Vec<NodeId> {
    let ids = graph.node_ids();
    ids.filter(|&id| graph.node(id).undo == Some(undo))
        .collect()
}

/// What is certainly written when the edge is followed.
pub(crate) fn written(graph: &Graph, edge: &Edge) -> KeySet {
    let EdgeSource::Node(id) = edge.from else {
        return KeySet::new();
    };
    if edge.action.as_deref() == Some("error") {
        return KeySet::from(["error".to_owned()]);
    }
    let name = edge.action.as_deref().unwrap_or("default");
    let action = graph.node(id).action(name).expect("edges are for actions");
    certain(&action.writes)
}

fn certain(writes: &[flow_spec::NodeWrite]) -> KeySet {
    writes
        .iter()
        .filter(|write| !write.optional)
        .map(|write| write.key.clone())
        .collect()
}

/// The writes of an action.
fn writes_of<'g>(graph: &'g Graph, id: NodeId, action: &str) -> &'g [flow_spec::NodeWrite] {
    let action = graph.node(id).action(action);
    action.map_or(&[], |action| &action.writes)
}

/// The writes when the edge is followed.
fn writes_on<'g>(graph: &'g Graph, edge: &Edge) -> &'g [flow_spec::NodeWrite] {
    match edge.from {
        EdgeSource::Node(id) if edge.action.as_deref() != Some("error") => {
            writes_of(graph, id, edge.action.as_deref().unwrap_or("default"))
        }
        _ => &[],
    }
}

fn adds(writes: &[flow_spec::NodeWrite], key: &str) -> bool {
    writes.iter().any(|write| write.adds && write.key == key)
}

/// Whether nothing of the value before is left.
fn replaces(writes: &[flow_spec::NodeWrite], key: &str) -> bool {
    certain(writes).contains(key) && !adds(writes, key)
}

/// The fork, race or loop that the node is in, or the node itself.
pub(crate) fn outermost(graph: &Graph, id: NodeId) -> NodeId {
    graph
        .node_ids()
        .find(|&owner| parts(graph, owner).concat().contains(&id))
        .unwrap_or(id)
}

fn parts(graph: &Graph, id: NodeId) -> Vec<Vec<NodeId>> {
    match &graph.node(id).kind {
        NodeKind::Fork(branches) => branches.iter().map(|branch| branch.chain.clone()).collect(),
        NodeKind::Race(branches) => branches.iter().map(|branch| branch.chain.clone()).collect(),
        NodeKind::Each { body, .. } => vec![vec![*body]],
        _ => Vec::new(),
    }
}

/// One way through a branch, or through the body of a loop.
struct Way<'g> {
    branch: usize,
    /// The steps with the actions that they take.
    steps: Vec<(NodeId, &'g str)>,
    /// The action that the branch takes.
    action: &'g str,
}

/// All ways through the branches of a node: one for each action of the last step.
fn ways(graph: &Graph, id: NodeId) -> Vec<Way<'_>> {
    let mut ways = Vec::new();
    for (branch, chain) in parts(graph, id).into_iter().enumerate() {
        let (&last, before) = chain.split_last().expect("no branch is empty");
        let own = match &graph.node(id).kind {
            NodeKind::Race(branches) => branches[branch].action.as_deref(),
            _ => None,
        };
        for action in &graph.node(last).actions {
            let action = action.name.as_str();
            let before = before.iter().map(|&part| (part, "default"));
            ways.push(Way {
                branch,
                steps: before.chain([(last, action)]).collect(),
                action: own.unwrap_or(action),
            });
        }
    }
    ways
}

/// The nodes that write the key so that the whole flow sees it.
pub(crate) fn writers(graph: &Graph, key: &str) -> Vec<NodeId> {
    graph
        .node_ids()
        .filter(|&id| {
            let owner = outermost(graph, id);
            let in_loop = owner != id && matches!(graph.node(owner).kind, NodeKind::Each { .. });
            let mut writes = graph
                .node(id)
                .actions
                .iter()
                .flat_map(|action| &action.writes);
            !in_loop && writes.any(|write| write.key == key)
        })
        .collect()
}

/// Whether something may still read the value that read number `at` of `id` takes.
pub(crate) fn is_read_later(graph: &Graph, id: NodeId, at: usize) -> bool {
    let key = graph.node(id).reads[at].key.as_str();
    let mut others = graph.node(id).reads.iter().enumerate();
    let reads_again = others.any(|(other, read)| {
        read.key == key && other != at && (other > at || read.mode == flow_spec::ReadMode::Borrow)
    });
    let owner = outermost(graph, id);
    // An undo node takes its own copy.
    if reads_again || !taken_back(graph, id).is_empty() {
        return reads_again;
    }
    if owner == id {
        return is_read_from(graph, within(graph, id, key), key);
    }
    if let NodeKind::Each { item, .. } = &graph.node(owner).kind {
        return item != key || is_read_from(graph, Next::Node(owner, KeySet::new()), key);
    }
    let is_race = matches!(graph.node(owner).kind, NodeKind::Race(_));
    let ways = ways(graph, owner);
    let place = |way: &Way<'_>| way.steps.iter().position(|&(part, _)| part == id);
    let own = ways.iter().find(|way| place(way).is_some());
    let own = own.expect("a branch has the node");
    // What a branch of a race has written itself is nothing to the others.
    let mut before = own.steps.iter().take_while(|&&(part, _)| part != id);
    let is_own =
        is_race && before.any(|&(part, action)| replaces(writes_of(graph, part, action), key));
    let outcomes = (ways.iter()).filter(|way| !is_own || way.branch == own.branch);
    let outcomes = outcomes.map(|way| match place(way) {
        Some(at) => (way.action, scan_after(graph, &way.steps[at..], key)),
        None => (way.action, scan(graph, &way.steps, key)),
    });
    is_read_from(graph, behind(graph, owner, outcomes.collect()), key)
}

#[derive(PartialEq)]
enum Chain {
    Reads,
    Writes,
    Neither,
}

/// What happens first to the key in a chain of steps with their actions.
fn scan(graph: &Graph, steps: &[(NodeId, &str)], key: &str) -> Chain {
    match steps {
        [] => Chain::Neither,
        [(first, _), ..] if reads(graph, *first, key) => Chain::Reads,
        _ => scan_after(graph, steps, key),
    }
}

/// The same, after the first step has read.
fn scan_after(graph: &Graph, steps: &[(NodeId, &str)], key: &str) -> Chain {
    let (part, action) = steps[0];
    let writes = writes_of(graph, part, action);
    if adds(writes, key) {
        return Chain::Reads;
    }
    if replaces(writes, key) {
        return Chain::Writes;
    }
    if undo_reads(graph, part, key) {
        return Chain::Reads;
    }
    scan(graph, &steps[1..], key)
}

/// What happens first to the key inside a node that a run has reached.
fn within(graph: &Graph, id: NodeId, key: &str) -> Next {
    if matches!(&graph.node(id).kind, NodeKind::Each { item, .. } if item == key) {
        return Next::Node(id, KeySet::new());
    }
    let ways = ways(graph, id).into_iter();
    let outcomes = ways.map(|way| (way.action, scan(graph, &way.steps, key)));
    behind(graph, id, outcomes.collect())
}

/// The same, from what happens to the key on each way through the node.
fn behind(graph: &Graph, id: NodeId, outcomes: Vec<(&str, Chain)>) -> Next {
    if outcomes.iter().any(|(_, outcome)| *outcome == Chain::Reads) {
        return Next::Reads;
    }
    let node = graph.node(id);
    let is_over = |action: &str| {
        let mut outcomes = outcomes.iter();
        match node.kind {
            NodeKind::Fork(_) => outcomes.any(|(_, outcome)| *outcome == Chain::Writes),
            // A race goes one of the ways that have this action.
            NodeKind::Race(_) => {
                outcomes.all(|(of, outcome)| *of != action || *outcome == Chain::Writes)
            }
            _ => false,
        }
    };
    let actions = node.actions.iter().map(|action| action.name.clone());
    Next::Node(id, actions.filter(|action| is_over(action)).collect())
}

/// Whether something may still read the value that a mapping of an edge reads.
pub(crate) fn is_read_after_mapping(graph: &Graph, edge: usize, index: usize) -> bool {
    let edge = &graph.edges[edge];
    let key = edge.mappings[index].source.as_str();
    if maps(edge, key) {
        return false;
    }
    is_read_from(graph, next(graph, &edge.to, key), key)
}

/// What happens first to the key where an edge leads.
enum Next {
    Reads,
    End,
    /// The run goes on after this node, which has written the key anew if it takes one of these
    /// actions.
    Node(NodeId, KeySet),
}

/// Whether the key is read from there on.
fn is_read_from(graph: &Graph, first: Next, key: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut waiting = vec![first];
    while let Some(first) = waiting.pop() {
        let (id, over) = match first {
            Next::Reads => return true,
            Next::End => continue,
            Next::Node(id, over) => (id, over),
        };
        if !seen.insert((id, over.clone())) {
            continue;
        }
        let edges = graph.edges.iter();
        for edge in edges.filter(|edge| edge.from == EdgeSource::Node(id)) {
            if over.contains(edge.action()) {
                continue;
            }
            let has_failed = edge.action() == "error";
            let writes = writes_on(graph, edge);
            if adds(writes, key) {
                return true;
            }
            // A failure writes its error.
            if replaces(writes, key) || has_failed && key == "error" {
                continue;
            }
            let is_undone = !has_failed && undo_reads(graph, id, key);
            if is_undone || edge.mappings.iter().any(|mapping| mapping.source == key) {
                return true;
            }
            if !maps(edge, key) {
                waiting.push(next(graph, &edge.to, key));
            }
        }
    }
    false
}

fn next(graph: &Graph, to: &EdgeTarget, key: &str) -> Next {
    match to {
        EdgeTarget::End(_) if graph.outputs.iter().any(|output| output.key == key) => Next::Reads,
        EdgeTarget::End(_) => Next::End,
        EdgeTarget::Node(to) if reads(graph, *to, key) => Next::Reads,
        EdgeTarget::Node(to) => within(graph, *to, key),
    }
}
