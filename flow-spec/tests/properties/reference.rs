//! What the analysis should find, defined slowly and plainly, for forks and loops that hold steps
//! only.

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
        let mut after = keys.clone();
        if let Some(id) = at {
            reached.insert(id);
            after = inside(graph, id, keys.clone(), missing);
        }
        let from = at.map_or(EdgeSource::Start, EdgeSource::Node);
        for (number, edge) in graph
            .edges
            .iter()
            .enumerate()
            .filter(|(_, edge)| edge.from == from)
        {
            let has_failed = edge.action.as_deref() == Some("error");
            let mut keys = if has_failed {
                keys.clone()
            } else {
                after.clone()
            };
            keys.extend(written(graph, edge));
            if let Some(undo) = at
                .filter(|_| !has_failed)
                .and_then(|id| graph.node(id).undo)
            {
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

/// Runs what is inside a node (and the node's own reads), telling of each read of a missing key; the keys after it.
pub(crate) fn inside(
    graph: &Graph,
    id: NodeId,
    keys: KeySet,
    missing: &mut dyn FnMut(NodeId, &str),
) -> KeySet {
    let mut read_all = |id: NodeId, keys: &KeySet| read(graph, id, keys, missing);
    read_all(id, &keys);
    match &graph.node(id).kind {
        NodeKind::Fork(branches) => {
            let mut after = keys.clone();
            for branch in branches {
                let mut seen = keys.clone();
                for &part in &branch.chain {
                    read_all(part, &seen);
                    seen.extend(default_writes(graph, part));
                    if let Some(undo) = graph.node(part).undo {
                        read_all(undo, &seen);
                    }
                }
                after.extend(seen);
            }
            after
        }
        NodeKind::Each { body, item, .. } => {
            let mut seen = keys.clone();
            seen.insert(item.clone());
            read_all(*body, &seen);
            keys
        }
        _ => keys,
    }
}

/// Tells of each key that a node must read and that is missing.
fn read(graph: &Graph, id: NodeId, keys: &KeySet, missing: &mut dyn FnMut(NodeId, &str)) {
    for read in graph.node(id).reads.iter().filter(|read| !read.optional) {
        if !keys.contains(&read.key) {
            missing(id, &read.key);
        }
    }
}

/// Whether the undo node of a node reads the key.
fn undo_reads(graph: &Graph, id: NodeId, key: &str) -> bool {
    let undo = graph.node(id).undo.map(|undo| graph.node(undo));
    undo.is_some_and(|undo| undo.reads.iter().any(|read| read.key == key))
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

fn default_writes(graph: &Graph, id: NodeId) -> KeySet {
    certain(
        &graph
            .node(id)
            .action("default")
            .expect("inner nodes have the default action")
            .writes,
    )
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

/// The fork or loop that the node is in, or the node itself.
pub(crate) fn outermost(graph: &Graph, id: NodeId) -> NodeId {
    graph
        .node_ids()
        .find(|&owner| parts(graph, owner).concat().contains(&id))
        .unwrap_or(id)
}

fn parts(graph: &Graph, id: NodeId) -> Vec<Vec<NodeId>> {
    match &graph.node(id).kind {
        NodeKind::Fork(branches) => branches.iter().map(|branch| branch.chain.clone()).collect(),
        NodeKind::Each { body, .. } => vec![vec![*body]],
        _ => Vec::new(),
    }
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
    let reads = |id: NodeId| graph.node(id).reads.iter().any(|read| read.key == key);
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
        let chains = parts(graph, id);
        let is_kept = |chain: &Vec<NodeId>| scan(graph, chain, key);
        let outcomes: Vec<Chain> = chains.iter().map(is_kept).collect();
        let item = matches!(&graph.node(id).kind, NodeKind::Each { item, .. } if item == key);
        if outcomes.contains(&Chain::Reads) && !item {
            return true;
        }
        let is_loop = matches!(graph.node(id).kind, NodeKind::Each { .. });
        let is_over = outcomes.contains(&Chain::Writes) && !is_loop;
        return read_after(graph, id, key, is_over);
    }
    if let NodeKind::Each { item, .. } = &graph.node(owner).kind {
        return item != key || read_after(graph, owner, key, false);
    }
    let own = writes_of(graph, id, "default");
    if adds(own, key) {
        return true;
    }
    let mut is_over = replaces(own, key);
    if !is_over && undo_reads(graph, id, key) {
        return true;
    }
    for chain in parts(graph, owner) {
        match chain.iter().position(|&part| part == id) {
            Some(_) if is_over => {}
            Some(position) => match scan(graph, &chain[position + 1..], key) {
                Chain::Reads => return true,
                Chain::Writes => is_over = true,
                Chain::Neither => {}
            },
            None if chain.iter().any(|&part| {
                reads(part)
                    || adds(writes_of(graph, part, "default"), key)
                    || undo_reads(graph, part, key)
            }) =>
            {
                return true;
            }
            None => is_over |= scan(graph, &chain, key) == Chain::Writes,
        }
    }
    read_after(graph, owner, key, is_over)
}

#[derive(PartialEq)]
enum Chain {
    Reads,
    Writes,
    Neither,
}

/// What happens first to the key in a chain of steps.
fn scan(graph: &Graph, chain: &[NodeId], key: &str) -> Chain {
    for &part in chain {
        if graph.node(part).reads.iter().any(|read| read.key == key) {
            return Chain::Reads;
        }
        let writes = writes_of(graph, part, "default");
        if adds(writes, key) {
            return Chain::Reads;
        }
        if replaces(writes, key) {
            return Chain::Writes;
        }
        if undo_reads(graph, part, key) {
            return Chain::Reads;
        }
    }
    Chain::Neither
}

/// Whether the key is read after the node, which has already written it anew unless it failed.
fn read_after(graph: &Graph, id: NodeId, key: &str, is_over: bool) -> bool {
    read_from(graph, vec![(id, is_over)], key)
}

/// Whether something may still read the value that a mapping of an edge reads.
pub(crate) fn is_read_after_mapping(graph: &Graph, edge: usize, index: usize) -> bool {
    let edge = &graph.edges[edge];
    let key = edge.mappings[index].source.as_str();
    if maps(edge, key) {
        return false;
    }
    match next(graph, &edge.to, key) {
        Next::Reads => true,
        Next::End => false,
        Next::Node(id, is_over) => read_from(graph, vec![(id, is_over)], key),
    }
}

/// What happens first to the key where an edge leads.
enum Next {
    Reads,
    End,
    /// The run goes on after this node, which may have written the key anew unless it failed.
    Node(NodeId, bool),
}

/// Whether the key is read after one of the nodes.
fn read_from(graph: &Graph, mut waiting: Vec<(NodeId, bool)>, key: &str) -> bool {
    let mut seen = BTreeSet::new();
    while let Some((id, is_over)) = waiting.pop() {
        for edge in graph
            .edges
            .iter()
            .filter(|edge| edge.from == EdgeSource::Node(id))
        {
            let has_failed = edge.action.as_deref() == Some("error");
            if is_over && !has_failed {
                continue;
            }
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
            if maps(edge, key) {
                continue;
            }
            match next(graph, &edge.to, key) {
                Next::Reads => return true,
                Next::End => {}
                Next::Node(id, is_over) => {
                    if seen.insert((id, is_over)) {
                        waiting.push((id, is_over));
                    }
                }
            }
        }
    }
    false
}

fn next(graph: &Graph, to: &EdgeTarget, key: &str) -> Next {
    let to = match to {
        EdgeTarget::End(_) if graph.outputs.iter().any(|output| output.key == key) => {
            return Next::Reads;
        }
        EdgeTarget::End(_) => return Next::End,
        EdgeTarget::Node(to) => *to,
    };
    if graph.node(to).reads.iter().any(|read| read.key == key) {
        return Next::Reads;
    }
    let is_item = matches!(&graph.node(to).kind, NodeKind::Each { item, .. } if item == key);
    let is_loop = matches!(graph.node(to).kind, NodeKind::Each { .. });
    let outcomes: Vec<Chain> = parts(graph, to)
        .iter()
        .map(|chain| scan(graph, chain, key))
        .collect();
    if outcomes.contains(&Chain::Reads) && !is_item {
        return Next::Reads;
    }
    Next::Node(to, outcomes.contains(&Chain::Writes) && !is_loop)
}
