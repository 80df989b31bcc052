//! The graph of a flow: its nodes as their contracts describe them, and its edges.
//!
//! The graph overlooks reported mistakes, so that their consequences are not reported as well.

use std::collections::{HashMap, HashSet};

use flow_spec::{
    Action, Branch, DEFAULT_ACTION, Edge, EdgeMapping, EdgeSource, EdgeTarget, Graph, Input, Node,
    NodeId, NodeKind, NodeRead, NodeWrite, Output, ReadMode, TIMEOUT_ACTION,
};
use syn::LitStr;

use crate::contract::{Contract, Failure, Kind, ReadPort, WritePort};
use crate::flow::declaration::{self, is_mapped_before, ports};
use crate::flow::instances::{Instance, InstanceKind, Instances, RaceBranch};
use crate::flow::items::{action_of, label_of};
use crate::flow::syntax::{
    EdgeMappingSyntax, EdgeSyntax, FlowSyntax, Mapping, Parameter, StepSyntax,
};
use crate::names::plain;
use crate::text::type_text;

use crate::flow::mapped::{adds, key_of, mapping};

use super::Contracts;

/// The whole graph, with these nodes.
pub(super) fn graph(flow: &FlowSyntax, instances: &Instances, nodes: Vec<Node>) -> Graph {
    Graph {
        name: flow.name.to_string(),
        inputs: flow.inputs.iter().map(input).collect(),
        outputs: flow.outputs.iter().map(output).collect(),
        nodes,
        edges: flow
            .edges
            .iter()
            .filter_map(|edge| self::edge(edge, instances))
            .collect(),
    }
}

fn input(parameter: &Parameter) -> Input {
    let Parameter {
        name, ty, optional, ..
    } = parameter;
    Input {
        key: plain(name),
        optional: *optional,
        rust_type: type_text(ty),
    }
}

fn output(parameter: &Parameter) -> Output {
    let Parameter {
        name, ty, optional, ..
    } = parameter;
    Output {
        key: plain(name),
        optional: *optional,
        rust_type: type_text(ty),
    }
}

fn edge(edge: &EdgeSyntax, instances: &Instances) -> Option<Edge> {
    let from = match &edge.from {
        StepSyntax::Start(_) => EdgeSource::Start,
        step => EdgeSource::Node(instances.of(step)?),
    };
    let to = match &edge.to {
        StepSyntax::End(_, label) => EdgeTarget::End(label_of(label.as_ref())),
        step => EdgeTarget::Node(instances.of(step)?),
    };
    let action = edge.action.as_ref().map(LitStr::value);
    let mapping = |one: &EdgeMappingSyntax| EdgeMapping {
        key: plain(&one.key),
        source: plain(&one.source),
    };
    let mappings = edge.mappings.iter().map(mapping).collect();
    Some(Edge {
        from,
        action,
        to,
        mappings,
    })
}

pub(super) fn nodes(flow: &FlowSyntax, instances: &Instances, contracts: &Contracts) -> Vec<Node> {
    let bodies: HashSet<NodeId> = instances.bodies().collect();
    let decides_for = decides_for(instances);
    let mut nodes: Vec<Node> = Vec::new();
    for (id, instance) in instances.iter() {
        let contract = &contracts[id];
        let router = decides_for.get(&id).copied().unwrap_or(id);
        let mut node = node(flow, kind(instances, id, contracts), instance, contract);
        node.undo = instances.undo_node(id);
        if bodies.contains(&id) {
            // Its results are collected, whatever its action is.
            node.actions = vec![Action {
                name: DEFAULT_ACTION.to_owned(),
                writes: Vec::new(),
            }];
        } else if contract.times_out()
            && node.action(TIMEOUT_ACTION).is_none()
            && routes_timeout(flow, instances, router)
        {
            node.fallible = contract.failure != Failure::Timeout;
            node.actions.push(Action {
                name: TIMEOUT_ACTION.to_owned(),
                writes: Vec::new(),
            });
        }
        nodes.push(node);
    }
    for (id, instance) in instances.iter() {
        if let InstanceKind::Each { item, .. } = &instance.kind
            && let body = instances.body(id)
            && !declaration::reads_item(flow, item, &instances[body], &contracts[body])
        {
            // This is reported, and a wrong item read is the same mistake.
            nodes[body.0]
                .reads
                .iter_mut()
                .for_each(|read| read.optional = true);
        }
        if let InstanceKind::Each { .. } = &instance.kind {
            let body = instances.body(id);
            let item = item_text(&instances[body], &contracts[body]);
            let results = results_text(flow, instance, &contracts[body], &item);
            let writes = nodes[id.0]
                .actions
                .iter_mut()
                .flat_map(|one| &mut one.writes);
            writes.for_each(|write| write.rust_type.clone_from(&results));
        }
        nodes[id.0].fallible |= match &instance.kind {
            InstanceKind::Fork(_) | InstanceKind::Race(_) => {
                instance.kind.inner().any(|node| nodes[node.0].fallible)
            }
            InstanceKind::Each { .. } => {
                (nodes[instances.body(id).0].fallible || instance.times_out(flow))
                    && !instance.collects_errors(flow)
            }
            _ => false,
        };
    }
    nodes
}

/// The last nodes of branches whose actions are those of their race, with the race.
fn decides_for(instances: &Instances) -> HashMap<NodeId, NodeId> {
    let races = instances
        .iter()
        .filter_map(|(race, instance)| match &instance.kind {
            InstanceKind::Race(branches) => Some((race, branches)),
            _ => None,
        });
    let last = races.flat_map(|(race, branches)| {
        let undecided = branches.iter().filter(|branch| branch.action.is_none());
        undecided.filter_map(move |branch| Some((*branch.chain.last()?, race)))
    });
    last.collect()
}

/// The type of one result of a loop with this body, as text. Empty if it is unknown.
fn item_text(body: &Instance, contract: &Contract) -> String {
    if contract.returns_nothing() {
        return "()".to_owned();
    }
    let ends_write = contract.actions.iter().any(|end| !end.writes.is_empty());
    match (contract.kind, &contract.writes[..]) {
        (Kind::Flow, [only]) if contract.actions.len() < 2 && !only.optional && !ends_write => {
            only.rust_type.clone()
        }
        // With one end, an output that may be missing is an `Option`.
        (Kind::Flow, _) if contract.actions.len() < 2 => String::new(),
        (Kind::Flow, _) => {
            let name = body.path().and_then(|path| path.segments.last());
            name.map(|name| format!("{}Output", name.ident))
                .unwrap_or_default()
        }
        (_, [only]) if contract.actions.is_empty() && !only.optional => only.rust_type.clone(),
        _ => String::new(),
    }
}

/// The type of the results of a loop as text, given that of one result. Empty if it is unknown.
fn results_text(flow: &FlowSyntax, instance: &Instance, body: &Contract, item: &str) -> String {
    // If the body cannot fail, the mistake is that, and not the reader of the results.
    let can_fail = body.fallible() || instance.times_out(flow);
    match (item, can_fail && instance.collects_errors(flow)) {
        ("", _) => String::new(),
        (item, true) => format!("Vec<Result<{item}, NodeError>>"),
        (item, false) => format!("Vec<{item}>"),
    }
}

/// Returns true if the flow routes the timeout of a poll.
pub(super) fn routes_timeout(flow: &FlowSyntax, instances: &Instances, node: NodeId) -> bool {
    let of_node = |edge: &&EdgeSyntax| instances.of(&edge.from) == Some(node);
    flow.edges
        .iter()
        .filter(of_node)
        .any(|edge| action_of(edge) == TIMEOUT_ACTION)
}

fn node(flow: &FlowSyntax, kind: NodeKind, instance: &Instance, contract: &Contract) -> Node {
    let mapping = mapping(flow, instance);
    let read = |port: &ReadPort| NodeRead {
        key: plain(key_of(mapping, &port.name, true)),
        mode: if port.mode.takes() {
            ReadMode::Take
        } else {
            ReadMode::Borrow
        },
        optional: port.mode.optional(),
        rust_type: port.rust_type.clone(),
        mapped: (mapping.iter()).any(|one| one.reads && plain(&one.port) == plain(&port.name)),
    };
    let write = |port: &WritePort| NodeWrite {
        key: plain(key_of(mapping, &port.name, false)),
        optional: port.optional,
        adds: adds(mapping, port),
        rust_type: port.rust_type.clone(),
    };
    let always = || contract.writes.iter().map(write);
    let mut actions: Vec<Action> = contract
        .actions
        .iter()
        .map(|action| Action {
            name: action.name.value(),
            writes: always().chain(action.writes.iter().map(write)).collect(),
        })
        .collect();
    if actions.is_empty() {
        actions.push(Action {
            name: DEFAULT_ACTION.to_owned(),
            writes: always().collect(),
        });
    }
    let mut node = Node {
        name: instance.shown.clone(),
        kind,
        reads: contract.reads.iter().map(read).collect(),
        actions,
        fallible: contract.fallible(),
        undo: None,
        was: was(flow, instance),
    };
    forgive_mapping(mapping, contract, &mut node);
    node
}

/// The former name of a node. The body that only a loop knows has none: the setting is that of the loop.
fn was(flow: &FlowSyntax, instance: &Instance) -> Option<String> {
    let declared = instance.declared(flow).filter(|_| !instance.hidden)?;
    let (_, was) = declared.settings.was.as_ref()?;
    Some(was.value())
}

/// A wrong mapping of a port is reported once: the node counts as reading and writing everything
/// that the mapping needs.
fn forgive_mapping(mapping: &[Mapping], contract: &Contract, node: &mut Node) {
    for (index, one) in mapping.iter().enumerate() {
        if ports(contract, one.reads).contains(&plain(&one.port))
            && !is_mapped_before(mapping, index)
        {
            continue;
        }
        // Both names: they may be swapped.
        for key in [plain(&one.key), plain(&one.port)] {
            node.reads.push(NodeRead {
                key: key.clone(),
                mode: ReadMode::Borrow,
                optional: false,
                rust_type: String::new(),
                mapped: true,
            });
            for action in &mut node.actions {
                action.writes.push(NodeWrite {
                    key: key.clone(),
                    optional: false,
                    adds: false,
                    rust_type: String::new(),
                });
            }
        }
        for read in &mut node.reads {
            read.optional = true;
        }
    }
}

fn kind(instances: &Instances, node: NodeId, contracts: &Contracts) -> NodeKind {
    let contract = &contracts[node];
    match &instances[node].kind {
        InstanceKind::Node(path) if contract.kind == Kind::Flow => NodeKind::Flow(
            path.segments
                .last()
                .map(|last| last.ident.to_string())
                .unwrap_or_default(),
        ),
        InstanceKind::Node(_) if contract.kind == Kind::Human => NodeKind::Human,
        InstanceKind::Node(_) if contract.kind == Kind::Signal => NodeKind::Signal,
        InstanceKind::Node(_) => NodeKind::Step,
        InstanceKind::Fork(branches) => {
            let chain = |chain: &Vec<NodeId>| Branch {
                chain: chain.clone(),
            };
            NodeKind::Fork(branches.iter().map(chain).collect())
        }
        InstanceKind::Race(branches) => {
            let branch = |branch: &RaceBranch| flow_spec::RaceBranch {
                chain: branch.chain.clone(),
                action: branch.action.as_ref().map(LitStr::value),
            };
            NodeKind::Race(branches.iter().map(branch).collect())
        }
        InstanceKind::Each { item, .. } => {
            let body = instances.body(node);
            let of_actions = contracts[body].actions.iter().flat_map(|one| &one.writes);
            let writes = contracts[body].writes.iter().chain(of_actions);
            let writes = writes.filter(|_| !contract.writes.iter().any(|port| port.adds));
            NodeKind::Each {
                body,
                item: plain(item),
                writes: writes.map(|port| plain(&port.name)).collect(),
            }
        }
        InstanceKind::Branch(_) => NodeKind::Branch,
        InstanceKind::Wait(_) => NodeKind::Wait,
        InstanceKind::Undo => NodeKind::Undo,
        InstanceKind::Commit => NodeKind::Commit,
    }
}
