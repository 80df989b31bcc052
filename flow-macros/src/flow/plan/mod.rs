//! The plan of a flow: lookup tables for its expansion, the order in which its nodes are written,
//! the place of each value that a node reads, and whether the value is moved or cloned. It contains
//! no tokens.

mod branch;
mod order;
mod reads;
#[cfg(test)]
mod shown;

use std::collections::{HashMap, HashSet};

use flow_spec::{ERROR_ACTION, ERROR_KEY, EdgeSource, NodeId};

use super::instances::{Instance, InstanceKind, Instances};
use super::resolve::Resolved;
use super::syntax::FlowSyntax;
use super::types::TypeNames;
use crate::contract::{Contract, Kind};
use crate::settings::Settings;

pub(super) use branch::{BranchPlan, TakenBy};
pub(super) use reads::{Handover, Place, Read, Slot};
#[cfg(test)]
pub(crate) use shown::shown;

/// A flow without mistakes, with lookup tables for its expansion.
pub(super) struct Plan<'a> {
    pub(super) flow: &'a FlowSyntax,
    pub(super) instances: &'a Instances,
    pub(super) resolved: &'a Resolved,
    pub(super) names: TypeNames,
    /// The bodies of loops over items.
    pub(super) bodies: HashSet<usize>,
    /// The bodies, and the nodes in forks: the loop itself does not visit them.
    pub(super) inner: HashSet<usize>,
    /// The keys that the inputs and the nodes write.
    keys: HashSet<&'a str>,
    /// The branches of each fork.
    branches: HashMap<usize, Vec<BranchPlan<'a>>>,
    /// The index of the route of each node and action.
    routes: HashMap<(usize, &'a str), usize>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(
        flow: &'a FlowSyntax,
        instances: &'a Instances,
        resolved: &'a Resolved,
    ) -> Self {
        let edges = resolved.graph.graph().edges.iter().enumerate();
        let routes = edges.filter_map(|(index, edge)| match edge.from {
            EdgeSource::Node(NodeId(node)) => Some(((node, edge.action()), index)),
            EdgeSource::Start => None,
        });
        let mut bodies = HashSet::new();
        let mut inner = HashSet::new();
        for instance in &instances.list {
            match &instance.kind {
                InstanceKind::Each { body, .. } => {
                    bodies.insert(*body);
                    inner.insert(*body);
                }
                InstanceKind::Fork(branches) => inner.extend(branches.iter().flatten()),
                _ => {}
            }
        }
        let mut plan = Plan {
            flow,
            instances,
            resolved,
            names: TypeNames::of(flow),
            bodies,
            inner,
            keys: HashSet::new(),
            branches: HashMap::new(),
            routes: routes.collect(),
        };
        plan.keys = plan.written_keys();
        plan.branches = plan.planned_branches();
        plan
    }

    fn written_keys(&self) -> HashSet<&'a str> {
        let graph = self.resolved.graph.graph();
        let inputs = graph.inputs.iter().map(|input| input.key.as_str());
        let actions = graph.nodes.iter().flat_map(|node| &node.actions);
        let writes = actions.flat_map(|action| &action.writes);
        let error = self
            .nodes()
            .any(|(index, _, contract)| self.error_route(index, contract).is_some());
        inputs
            .chain(writes.map(|write| write.key.as_str()))
            .chain(error.then_some(ERROR_KEY))
            .collect()
    }

    fn planned_branches(&self) -> HashMap<usize, Vec<BranchPlan<'a>>> {
        let forks = self.instances.list.iter().enumerate();
        let forks = forks.filter_map(|(fork, instance)| match &instance.kind {
            InstanceKind::Fork(chains) => Some((fork, chains)),
            _ => None,
        });
        let planned = forks.map(|(fork, chains)| {
            let branches = chains.iter().enumerate();
            let branches =
                branches.map(|(number, chain)| BranchPlan::new(self, fork, number, chain));
            (fork, branches.collect())
        });
        planned.collect()
    }
}

impl Plan<'_> {
    /// Returns true if anything writes the key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.contains(key)
    }

    /// The branches of a fork.
    pub(super) fn branches(&self, fork: usize) -> &[BranchPlan<'_>] {
        self.branches.get(&fork).map_or(&[], Vec::as_slice)
    }

    /// The settings that the flow gives to a node at that place.
    pub(super) fn settings(&self, node: usize, place: Place<'_>) -> Settings {
        let declared = |node: usize| self.instances.list[node].declared(self.flow);
        let own = declared(node).map(|node| node.settings.clone());
        let own = own.unwrap_or_default();
        match place {
            Place::Item { of, .. } => match declared(of) {
                Some(each) => own.for_items_of(&each.settings),
                None => own,
            },
            Place::Loop | Place::Branch(_) => own,
        }
    }

    /// Returns true if the node at that place is a flow that is tried again as a whole, and needs
    /// its inputs each time.
    pub(super) fn repeats(&self, node: usize, place: Place<'_>) -> bool {
        self.resolved.contracts[node].kind == Kind::Flow && self.settings(node, place).repeats()
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = (usize, &Instance, &Contract)> {
        let nodes = self
            .instances
            .list
            .iter()
            .zip(&self.resolved.contracts)
            .enumerate();
        nodes.map(|(index, (instance, contract))| (index, instance, contract))
    }

    /// The route of an action.
    pub(super) fn route(&self, node: usize, action: &str) -> Option<usize> {
        self.routes.get(&(node, action)).copied()
    }

    /// The route that a node takes when it has failed. An end of a nested flow cannot have this
    /// name.
    pub(super) fn error_route(&self, node: usize, contract: &Contract) -> Option<usize> {
        let fallible = self.resolved.graph.graph().nodes[node].fallible;
        let own_end = contract.kind == Kind::Flow
            && contract
                .actions
                .iter()
                .any(|end| end.name.value() == ERROR_ACTION);
        (fallible && !own_end)
            .then(|| self.route(node, ERROR_ACTION))
            .flatten()
    }
}
