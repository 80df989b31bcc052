//! The flow and the contracts of its nodes become a graph, which `flow-spec` checks. Its diagnostics speak of sites;
//! here is written down where the user wrote each.

use flow_spec::{
    Action, Branch, CheckedGraph, DEFAULT_ACTION, Edge, EdgePart, From, Graph, Input, Node, NodeId,
    NodeKind, Output, Read, ReadMode, Site, To, Write,
};
use proc_macro2::Span;
use syn::{Ident, LitStr};

use crate::contract::{Contract, Kind, ReadPort, TIMEOUT_ACTION, WritePort};
use crate::names::plain;
use crate::node::type_text;
use crate::report::Report;

use super::declaration::{self, is_mapped_before, ports};
use super::instances::{Instance, InstanceKind, Instances, path_key};
use super::items::{action_of, label_of};
use super::syntax::{EdgeSyntax, FlowSyntax, Mapping, NodeSource, Parameter, StepSyntax};

/// A flow without mistakes.
pub(crate) struct Resolved {
    pub(crate) graph: CheckedGraph,
    /// The contract of each node.
    pub(crate) contracts: Vec<Contract>,
}

/// Builds the graph and has it checked. Nothing, if there are mistakes.
pub(crate) fn resolve(
    flow: &FlowSyntax,
    instances: &Instances,
    told: &[Contract],
    report: &mut Report,
) -> Option<Resolved> {
    let Some(contracts) = contracts(flow, instances, told) else {
        let text = "the nodes of this flow did not tell their contracts: update `flow-runtime`";
        report.text(flow.name.span(), text);
        return None;
    };
    for (instance, contract) in instances.list.iter().zip(&contracts) {
        declaration::check(flow, instance, contract, report);
        if let InstanceKind::Each { body, .. } = instance.kind {
            let body = (&instances.list[body], &contracts[body]);
            declaration::check_body(flow, instance, body, report);
        }
    }
    let nodes = nodes(flow, instances, &contracts);
    declaration::check_mapped_keys(flow, instances, &nodes, report);
    let graph = Graph {
        name: flow.name.to_string(),
        inputs: flow.inputs.iter().map(input).collect(),
        outputs: flow.outputs.iter().map(output).collect(),
        nodes,
        edges: flow
            .edges
            .iter()
            .filter_map(|edge| self::edge(edge, instances))
            .collect(),
    };
    match flow_spec::check(graph) {
        Ok(graph) => report.is_empty().then_some(Resolved { graph, contracts }),
        Err(diagnostics) => {
            for diagnostic in diagnostics {
                let mut text = diagnostic.to_string();
                for (site, what) in &diagnostic.related {
                    let line = span_of(*site, flow, instances).start().line;
                    text.push_str(&format!("\nnote: {what} (line {line})"));
                }
                report.text(span_of(diagnostic.site, flow, instances), text);
            }
            None
        }
    }
}

/// The contract of each node: what the nodes told, and what the flow itself says of the others.
fn contracts(flow: &FlowSyntax, instances: &Instances, told: &[Contract]) -> Option<Vec<Contract>> {
    let keys: Vec<String> = instances.paths().iter().map(path_key).collect();
    let of_path = |path| {
        let index = keys.iter().position(|key| *key == path_key(path))?;
        told.get(index).cloned()
    };
    let optional = flow.inputs.iter().filter(|input| input.optional);
    let optional: Vec<&Ident> = optional.map(|input| &input.name).collect();
    let mut contracts = Vec::new();
    for instance in &instances.list {
        contracts.push(match &instance.kind {
            InstanceKind::Node(path) => of_path(path)?,
            InstanceKind::Branch(index) => Contract::of_branch(&flow.branches[*index], &optional),
            InstanceKind::Fork(_) | InstanceKind::Each { .. } | InstanceKind::Wait(_) => {
                Contract::empty()
            }
        });
    }
    for (index, instance) in instances.list.iter().enumerate() {
        if let InstanceKind::Each { over, body, .. } = &instance.kind {
            let body = contracts.get(*body)?;
            let collects = instance
                .declared(flow)
                .is_some_and(|node| node.settings.collect_errors.is_some());
            contracts[index] = Contract::of_each(&instance.name, over, body, collects);
        }
    }
    Some(contracts)
}

/// Where a site is written.
fn span_of(site: Site, flow: &FlowSyntax, instances: &Instances) -> Span {
    let place = match site {
        Site::Input(index) => flow.inputs.get(index).map(|input| input.name.span()),
        Site::Output(index) => flow.outputs.get(index).map(|output| output.name.span()),
        Site::Node(NodeId(index)) => instances.list.get(index).map(|instance| instance.span),
        Site::Edge(index, part) => flow.edges.get(index).map(|edge| match part {
            EdgePart::From => edge.from.span(),
            EdgePart::Action => edge.action.as_ref().map_or(edge.arrow, LitStr::span),
            EdgePart::To => edge.to.span(),
        }),
        _ => None,
    };
    place.unwrap_or_else(|| flow.name.span())
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
        StepSyntax::Start(_) => From::Start,
        step => From::Node(NodeId(instances.of(step)?)),
    };
    let to = match &edge.to {
        StepSyntax::End(_, label) => To::End(label_of(label.as_ref())),
        step => To::Node(NodeId(instances.of(step)?)),
    };
    let action = edge.action.as_ref().map(LitStr::value);
    Some(Edge { from, action, to })
}

/// The mapping of a declared node. That of a loop over items is its body's.
pub(crate) fn mapping<'a>(flow: &'a FlowSyntax, instance: &Instance) -> &'a [Mapping] {
    match (
        &instance.kind,
        instance.declared(flow).map(|node| &node.source),
    ) {
        (
            InstanceKind::Node(_),
            Some(NodeSource::Path { mapping, .. } | NodeSource::Each { mapping, .. }),
        ) => mapping,
        _ => &[],
    }
}

/// The key that a port reads or writes: its own name, unless the mapping says otherwise.
pub(crate) fn key_of<'a>(mapping: &'a [Mapping], port: &'a Ident, reads: bool) -> &'a Ident {
    let mapped = mapping
        .iter()
        .find(|one| one.reads == reads && plain(&one.port) == plain(port));
    mapped.map_or(port, |one| &one.key)
}

fn nodes(flow: &FlowSyntax, instances: &Instances, contracts: &[Contract]) -> Vec<Node> {
    let bodies: Vec<usize> = instances
        .list
        .iter()
        .filter_map(|instance| match &instance.kind {
            InstanceKind::Each { body, .. } => Some(*body),
            _ => None,
        })
        .collect();
    let mut nodes: Vec<Node> = Vec::new();
    for (index, (instance, contract)) in instances.list.iter().zip(contracts).enumerate() {
        let mut node = node(flow, instance, contract);
        if bodies.contains(&index) {
            // What it returns is collected, whatever it decides.
            node.actions = vec![Action {
                name: DEFAULT_ACTION.to_owned(),
                writes: Vec::new(),
            }];
        } else if contract.poll && routes_timeout(flow, instances, index) {
            node.actions.push(Action {
                name: TIMEOUT_ACTION.to_owned(),
                writes: Vec::new(),
            });
        }
        nodes.push(node);
    }
    for (index, instance) in instances.list.iter().enumerate() {
        if let InstanceKind::Each { item, body, .. } = &instance.kind
            && !declaration::reads_item(flow, item, &instances.list[*body], &contracts[*body])
        {
            // That is reported, and what it reads instead is the same mistake.
            nodes[*body]
                .reads
                .iter_mut()
                .for_each(|read| read.optional = true);
        }
        nodes[index].fallible |= match &instance.kind {
            InstanceKind::Fork(branches) => {
                branches.iter().flatten().any(|&node| nodes[node].fallible)
            }
            InstanceKind::Each { body, .. } => {
                let collects = instance
                    .declared(flow)
                    .is_some_and(|node| node.settings.collect_errors.is_some());
                nodes[*body].fallible && !collects
            }
            _ => false,
        };
    }
    nodes
}

/// Whether the flow goes on after a poll that found nothing in time.
fn routes_timeout(flow: &FlowSyntax, instances: &Instances, node: usize) -> bool {
    let of_node = |edge: &&EdgeSyntax| instances.of(&edge.from) == Some(node);
    flow.edges
        .iter()
        .filter(of_node)
        .any(|edge| action_of(edge) == TIMEOUT_ACTION)
}

fn node(flow: &FlowSyntax, instance: &Instance, contract: &Contract) -> Node {
    let mapping = mapping(flow, instance);
    let read = |port: &ReadPort| Read {
        key: plain(key_of(mapping, &port.name, true)),
        mode: if port.mode.takes() {
            ReadMode::Take
        } else {
            ReadMode::Borrow
        },
        optional: port.mode.optional(),
        rust_type: port.rust_type.clone(),
    };
    let write = |port: &WritePort| Write {
        key: plain(key_of(mapping, &port.name, false)),
        optional: port.optional,
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
    let timeout = instance
        .declared(flow)
        .is_some_and(|node| node.settings.timeout.is_some());
    let mut node = Node {
        name: instance.shown.clone(),
        kind: kind(instance, contract),
        reads: contract.reads.iter().map(read).collect(),
        actions,
        fallible: contract.fallible || (timeout && instance.path().is_some()),
    };
    forgive_mapping(mapping, contract, &mut node);
    node
}

/// A port that is mapped wrongly is reported, and that is enough: the node is taken to read and write what it needs.
fn forgive_mapping(mapping: &[Mapping], contract: &Contract, node: &mut Node) {
    for (index, one) in mapping.iter().enumerate() {
        if ports(contract, one.reads).contains(&plain(&one.port))
            && !is_mapped_before(mapping, index)
        {
            continue;
        }
        let key = plain(&one.key);
        node.reads.push(Read {
            key: key.clone(),
            mode: ReadMode::Borrow,
            optional: false,
            rust_type: String::new(),
        });
        for read in &mut node.reads {
            read.optional = true;
        }
        for action in &mut node.actions {
            action.writes.push(Write {
                key: key.clone(),
                optional: false,
                rust_type: String::new(),
            });
        }
    }
}

fn kind(instance: &Instance, contract: &Contract) -> NodeKind {
    match &instance.kind {
        InstanceKind::Node(path) if contract.kind == Kind::Flow => NodeKind::Flow(
            path.segments
                .last()
                .map(|last| last.ident.to_string())
                .unwrap_or_default(),
        ),
        InstanceKind::Node(_) => NodeKind::Step,
        InstanceKind::Fork(branches) => {
            let chain = |chain: &Vec<usize>| Branch {
                chain: chain.iter().copied().map(NodeId).collect(),
            };
            NodeKind::Fork(branches.iter().map(chain).collect())
        }
        InstanceKind::Each { item, body, .. } => NodeKind::Each {
            body: NodeId(*body),
            item: plain(item),
        },
        InstanceKind::Branch(_) => NodeKind::Branch,
        InstanceKind::Wait(_) => NodeKind::Wait,
    }
}
