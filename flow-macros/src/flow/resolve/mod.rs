//! Turns the flow and the contracts of its nodes into a graph, which `flow-spec` checks. Its
//! diagnostics name sites; this module knows where the user wrote each of them.

mod graph;

use std::collections::HashMap;
use std::ops::Index;

use flow_spec::{
    Action, CheckedGraph, Compared, DEFAULT_ACTION, EdgePart, NodeId, Site, TIMEOUT_ACTION,
};
use proc_macro2::Span;
use syn::{Ident, LitStr};

use crate::contract::{ActionPort, Contract, Failure, Kind, Mode, ReadPort};
use crate::report::Report;

use super::declaration;
use super::instances::{Instance, InstanceKind, Instances, RaceBranch, path_key};
use super::mapped::{added_keys, key_of, mapping};
use super::syntax::{BranchSyntax, EdgeMappingSyntax, EdgeSyntax, FlowSyntax, StepSyntax};

use graph::{graph, nodes, routes_timeout};

/// A flow without mistakes.
pub(crate) struct Resolved {
    pub(crate) graph: CheckedGraph,
    pub(crate) contracts: Contracts,
}

/// The contract of each node.
pub(crate) struct Contracts(Vec<Contract>);

impl Index<NodeId> for Contracts {
    type Output = Contract;

    fn index(&self, NodeId(index): NodeId) -> &Contract {
        &self.0[index]
    }
}

/// Builds the graph and has it checked. If there are mistakes, returns the flow's writes at its
/// ends as far as they are known, for its users. Mistakes that follow from those of a node are not
/// reported.
pub(crate) fn resolve(
    flow: &FlowSyntax,
    instances: &Instances,
    told: &[Contract],
    report: &mut Report,
) -> Result<Resolved, Vec<Action>> {
    if !told.iter().any(|contract| contract.broken) {
        return sound(flow, instances, told, report);
    }
    if told.iter().any(Contract::says_nothing) {
        return Err(Vec::new());
    }
    match sound(flow, instances, told, &mut Report::default()) {
        Ok(resolved) => Err(resolved.graph.ends().to_vec()),
        Err(ends) => Err(ends),
    }
}

/// The flow, if it is sound.
fn sound(
    flow: &FlowSyntax,
    instances: &Instances,
    told: &[Contract],
    report: &mut Report,
) -> Result<Resolved, Vec<Action>> {
    let Some(contracts) = contracts(flow, instances, told) else {
        let text = "the nodes of this flow did not tell their contracts: update `typed-flows`";
        report.text(flow.name.span(), text);
        return Err(Vec::new());
    };
    for (id, instance) in instances.iter() {
        declaration::check(flow, instance, &contracts[id], report);
        if let InstanceKind::Each { .. } = instance.kind {
            let body = instances.body(id);
            let body = (&instances[body], &contracts[body]);
            declaration::check_body(flow, instance, body, report);
            let of_loop = |edge: &&EdgeSyntax| instances.of(&edge.from) == Some(id);
            declaration::check_error_edge(
                instance,
                flow,
                flow.edges.iter().filter(of_loop),
                report,
            );
        }
    }
    let mut nodes = nodes(flow, instances, &contracts);
    declaration::check_mapped_keys(flow, instances, &nodes, report);
    declaration::check_collections(flow, instances, &nodes, report);
    declaration::check_spread(flow, instances, report);
    declaration::check_former_names(flow, instances, report);
    declaration::check_conditions(flow, instances, &mut nodes, report);
    let graph = graph(flow, instances, nodes);
    // rustc compares all types, but knows neither the key nor its writer.
    let mut diagnostics = flow_spec::check_types(&graph, Compared::Standard);
    let checked = match flow_spec::check(graph.clone()) {
        Ok(graph) => Some(graph),
        Err(found) => {
            diagnostics.extend(found);
            None
        }
    };
    let span = |site| span_of(site, flow, instances, &contracts);
    for diagnostic in diagnostics {
        let mut text = diagnostic.to_string();
        let own = span(diagnostic.site).start().line;
        for (site, what) in &diagnostic.related {
            let line = span(*site).start().line;
            // Places on the same line are shown already.
            if line != own {
                text.push_str(&format!("\nnote: {what} (line {line})"));
            }
        }
        report.text(span(diagnostic.site), text);
    }
    match checked.filter(|_| report.is_empty()) {
        Some(graph) => Ok(Resolved { graph, contracts }),
        None => Err(flow_spec::written_at_ends(&graph)),
    }
}

/// The contract of each node: those that the nodes passed on, and those that the flow itself
/// defines.
fn contracts(flow: &FlowSyntax, instances: &Instances, told: &[Contract]) -> Option<Contracts> {
    let paths = instances.paths();
    let by_path: HashMap<String, &Contract> = paths.iter().map(path_key).zip(told).collect();
    let of_path = |path| by_path.get(&path_key(path)).copied().cloned();
    let optional = flow.inputs.iter().filter(|input| input.optional);
    let optional: Vec<&Ident> = optional.map(|input| &input.name).collect();
    let mut contracts = Vec::new();
    for (_, instance) in instances.iter() {
        contracts.push(match &instance.kind {
            InstanceKind::Node(path) => {
                let mut contract = of_path(path)?;
                if instance.times_out(flow) {
                    contract.failure = match contract.kind {
                        // What comes from outside may be late, as if the type set the limit.
                        Kind::Human | Kind::Signal => Failure::Timeout,
                        _ => contract.failure.within_timeout(),
                    };
                }
                contract
            }
            InstanceKind::Branch(index) => contract_of_branch(&flow[*index], &optional),
            InstanceKind::Fork(_)
            | InstanceKind::Race(_)
            | InstanceKind::Each { .. }
            | InstanceKind::Wait(_)
            | InstanceKind::Undo
            | InstanceKind::Commit => Contract::empty(),
        });
    }
    for (each, instance) in instances.iter() {
        if let InstanceKind::Each { over, .. } = &instance.kind {
            let body = instances.body(each);
            let contract = &contracts[body.0];
            let adds = added_keys(flow, &instances[body], contract);
            let collects = instance.collects_errors(flow);
            contracts[each.0] = Contract::of_each(&instance.name, over, contract, &adds, collects);
        }
    }
    for (race, instance) in instances.iter() {
        if let InstanceKind::Race(branches) = &instance.kind {
            let routes_timeout = routes_timeout(flow, instances, race);
            contracts[race.0].actions =
                actions_of_race(instance, branches, &contracts, routes_timeout);
        }
    }
    Some(Contracts(contracts))
}

/// The span of a site.
fn span_of(site: Site, flow: &FlowSyntax, instances: &Instances, contracts: &Contracts) -> Span {
    let place = match site {
        Site::Input(index) => flow.inputs.get(index).map(|input| input.name.span()),
        Site::Output(index) => flow.outputs.get(index).map(|output| output.name.span()),
        Site::Node(node) => Some(instances[node].span),
        Site::Undo(node) => Some(undo_span(flow, &instances[node])),
        Site::Was(node) => Some(was_span(flow, &instances[node])),
        Site::Read(node, read) => Some(read_span(flow, &instances[node], &contracts[node], read)),
        Site::Edge(index, part) => flow.edges.get(index).map(|edge| match part {
            EdgePart::From => edge.from.span(),
            EdgePart::Action => edge.action.as_ref().map_or(edge.arrow, LitStr::span),
            EdgePart::To => edge.to.span(),
            EdgePart::Label => label_span(&edge.to),
            EdgePart::Key(index) => mapping_span(edge, index, |one| &one.key),
            EdgePart::Source(index) => mapping_span(edge, index, |one| &one.source),
        }),
        _ => None,
    };
    place.unwrap_or_else(|| flow.name.span())
}

/// The place of the node that takes back a visit, in the setting.
fn undo_span(flow: &FlowSyntax, instance: &Instance) -> Span {
    let declared = instance.declared(flow);
    let undo = declared.and_then(|node| node.settings.undo.as_ref());
    let last = undo.and_then(|(_, path)| path.segments.last());
    last.map_or(instance.span, |last| last.ident.span())
}

/// The place of the former name of a node, in the setting.
fn was_span(flow: &FlowSyntax, instance: &Instance) -> Span {
    let declared = instance.declared(flow);
    let was = declared.and_then(|node| node.settings.was.as_ref());
    was.map_or(instance.span, |(_, was)| was.span())
}

fn label_span(to: &StepSyntax) -> Span {
    match to {
        StepSyntax::End(_, Some(label)) => label.span(),
        other => other.span(),
    }
}

fn mapping_span(edge: &EdgeSyntax, index: usize, part: fn(&EdgeMappingSyntax) -> &Ident) -> Span {
    let mapping = edge.mappings.get(index);
    mapping.map_or_else(|| edge.to.span(), |mapping| part(mapping).span())
}

/// The contract of a branch: its keys are read by reference, and those in `optional` may be
/// missing.
fn contract_of_branch(branch: &BranchSyntax, optional: &[&Ident]) -> Contract {
    let labels = branch
        .cases
        .iter()
        .map(|(_, label)| label)
        .chain(&branch.otherwise);
    let mut actions: Vec<ActionPort> = Vec::new();
    for label in labels {
        if actions
            .iter()
            .all(|action| action.name.value() != label.value())
        {
            let variant = branch.name.clone();
            actions.push(ActionPort {
                name: label.clone(),
                variant,
                writes: Vec::new(),
            });
        }
    }
    let read = |name: &Ident| {
        if optional.contains(&name) {
            ReadPort {
                mode: Mode::MaybeBorrow,
                ..ReadPort::borrowed(name)
            }
        } else {
            ReadPort::borrowed(name)
        }
    };
    let reads = branch.reads.iter().map(read).collect();
    Contract {
        reads,
        actions,
        ..Contract::empty()
    }
}

/// The actions of the branches of a race, each once. Empty if it only takes `"default"`.
fn actions_of_race(
    race: &Instance,
    branches: &[RaceBranch],
    contracts: &[Contract],
    routes_timeout: bool,
) -> Vec<ActionPort> {
    let mut actions: Vec<ActionPort> = Vec::new();
    let mut add = |name: LitStr, variant: &Ident| {
        if actions
            .iter()
            .all(|action| action.name.value() != name.value())
        {
            actions.push(ActionPort {
                name,
                variant: variant.clone(),
                writes: Vec::new(),
            });
        }
    };
    for branch in branches {
        let last = branch.chain.last().map(|last| &contracts[last.0]);
        let of_last = last.map_or(&[][..], |last| &last.actions);
        match &branch.action {
            Some(action) => add(action.clone(), &race.name),
            None if of_last.is_empty() => {
                add(LitStr::new(DEFAULT_ACTION, race.span), &race.name);
            }
            None => (of_last.iter()).for_each(|action| add(action.name.clone(), &action.variant)),
        }
        if branch.action.is_none() && routes_timeout && last.is_some_and(Contract::times_out) {
            add(LitStr::new(TIMEOUT_ACTION, race.span), &race.name);
        }
    }
    match &actions[..] {
        [only] if only.name.value() == DEFAULT_ACTION => Vec::new(),
        _ => actions,
    }
}

/// The place that names the key of a read: in the flow or in a prompt, or else the node.
fn read_span(flow: &FlowSyntax, instance: &Instance, contract: &Contract, read: usize) -> Span {
    let Some(port) = contract.reads.get(read) else {
        return instance.span;
    };
    let by_flow = match &instance.kind {
        InstanceKind::Each { over, .. } => Some(over),
        InstanceKind::Branch(branch) => flow[*branch].reads.get(read),
        _ => {
            let key = key_of(mapping(flow, instance), &port.name, true);
            (key != &port.name).then_some(key)
        }
    };
    match (by_flow, contract.kind) {
        (Some(key), _) => key.span(),
        (None, Kind::Human) => port.name.span(),
        (None, _) => instance.span,
    }
}
