//! The plan of a flow: lookup tables for its expansion, the order in which its nodes are written,
//! the place of each value that a node reads, and if the value is moved or cloned.

mod branch;
mod order;
mod reads;
#[cfg(test)]
mod shown;

use std::collections::{HashMap, HashSet};

use flow_spec::{DEFAULT_ACTION, ERROR_ACTION, ERROR_KEY, Edge, EdgeSource, NodeId};
use syn::LitStr;

use super::instances::{Instance, InstanceKind, Instances};
use super::resolve::Resolved;
use super::syntax::FlowSyntax;
use crate::contract::{Contract, Kind};
use crate::settings::Settings;

pub(super) use branch::{Addition, BranchPlan, TakenBy};
pub(super) use reads::{EdgeWrite, Handover, Place, Read, Slot};
#[cfg(test)]
pub(crate) use shown::shown;

/// Plans the code of a flow without mistakes.
pub(super) fn plan<'a>(
    flow: &'a FlowSyntax,
    instances: &'a Instances,
    resolved: &'a Resolved,
) -> Plan<'a> {
    Plan::new(flow, instances, resolved)
}

/// A flow without mistakes, with lookup tables for its expansion.
pub(super) struct Plan<'a> {
    pub(super) flow: &'a FlowSyntax,
    pub(super) instances: &'a Instances,
    pub(super) resolved: &'a Resolved,
    /// The bodies of loops over items.
    pub(super) bodies: HashSet<NodeId>,
    /// The bodies, the nodes in forks and races, and those that take back visits: the loop itself
    /// does not visit them.
    pub(super) inner: HashSet<NodeId>,
    /// The keys that the inputs and the nodes write.
    keys: HashSet<&'a str>,
    /// The branches of each fork and race.
    branches: HashMap<NodeId, Vec<BranchPlan<'a>>>,
    /// The routes of each node, in the order of the edges.
    routes: HashMap<NodeId, Vec<RouteIndex>>,
}

/// A route: the index of an edge in the graph, which a visit of a node returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RouteIndex(pub(super) usize);

/// A read of a node: the index of a port in the reads of its contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReadIndex(pub(super) usize);

impl<'a> Plan<'a> {
    fn new(flow: &'a FlowSyntax, instances: &'a Instances, resolved: &'a Resolved) -> Self {
        let mut routes: HashMap<NodeId, Vec<RouteIndex>> = HashMap::new();
        for (index, edge) in resolved.graph.graph().edges.iter().enumerate() {
            if let EdgeSource::Node(node) = edge.from {
                routes.entry(node).or_default().push(RouteIndex(index));
            }
        }
        let bodies: HashSet<NodeId> = instances.bodies().collect();
        let mut inner = bodies.clone();
        for (_, instance) in instances.iter() {
            inner.extend(instance.kind.inner());
        }
        inner.extend(instances.undo_nodes());
        let mut plan = Plan {
            flow,
            instances,
            resolved,
            bodies,
            inner,
            keys: HashSet::new(),
            branches: HashMap::new(),
            routes,
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
        let mappings = graph.edges.iter().flat_map(|edge| &edge.mappings);
        let error = self
            .nodes()
            .any(|(node, _, contract)| self.error_route(node, contract).is_some());
        inputs
            .chain(writes.map(|write| write.key.as_str()))
            .chain(mappings.map(|mapping| mapping.key.as_str()))
            .chain(error.then_some(ERROR_KEY))
            .collect()
    }

    fn planned_branches(&self) -> HashMap<NodeId, Vec<BranchPlan<'a>>> {
        let planned = self.instances.iter().map(|(owner, instance)| {
            let branches = instance.kind.chains().into_iter().enumerate();
            let branches =
                branches.map(|(number, chain)| BranchPlan::new(self, owner, number, chain));
            (owner, branches.collect::<Vec<_>>())
        });
        planned
            .filter(|(_, branches)| !branches.is_empty())
            .collect()
    }
}

impl Plan<'_> {
    /// Returns true if anything writes the key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.contains(key)
    }

    /// The branches of a fork or a race.
    pub(super) fn branches(&self, fork: NodeId) -> &[BranchPlan<'_>] {
        self.branches.get(&fork).map_or(&[], Vec::as_slice)
    }

    /// The names of the actions of a node, in the order of its contract.
    pub(super) fn actions(&self, node: NodeId) -> impl Iterator<Item = &str> {
        let actions = &self.resolved.graph.graph().node(node).actions;
        actions.iter().map(|action| action.name.as_str())
    }

    /// The index of the action that a race takes if the last node of this branch takes that one.
    pub(super) fn action_of_race(&self, branch: &BranchPlan<'_>, action: &str) -> Option<usize> {
        let InstanceKind::Race(branches) = &self.instances[branch.owner].kind else {
            return None;
        };
        let own = branches[branch.number].action.as_ref().map(LitStr::value);
        let action = own.as_deref().unwrap_or(action);
        self.actions(branch.owner).position(|name| name == action)
    }

    /// Returns true if the last node of a branch decides which action its race takes.
    pub(super) fn decides(&self, branch: &BranchPlan<'_>) -> bool {
        let InstanceKind::Race(branches) = &self.instances[branch.owner].kind else {
            return false;
        };
        let actions = branch.chain.last().map(|&last| self.actions(last));
        let is_plain = actions.is_none_or(|mut actions| actions.all(|name| name == DEFAULT_ACTION));
        branches[branch.number].action.is_none() && !is_plain
    }

    /// The settings that the flow gives to a node at that place.
    pub(super) fn settings(&self, node: NodeId, place: Place<'_>) -> Settings {
        let declared = |node: NodeId| self.instances[node].declared(self.flow);
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

    /// Returns true if the node at that place is a flow that is retried as a whole, and needs its
    /// inputs each time.
    pub(super) fn repeats(&self, node: NodeId, place: Place<'_>) -> bool {
        self.resolved.contracts[node].kind == Kind::Flow && self.settings(node, place).repeats()
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = (NodeId, &Instance, &Contract)> {
        let nodes = self.instances.iter();
        nodes.map(|(id, instance)| (id, instance, &self.resolved.contracts[id]))
    }

    /// Returns true if visits of the flow can be undone, or if that depends on flows in it.
    pub(super) fn may_undo(&self) -> bool {
        let mut nodes = self.nodes();
        nodes.any(|(id, _, contract)| self.may_undo_at(id, contract))
    }

    /// Returns true if visits in these nodes can be undone, or if that depends on flows in them.
    pub(super) fn may_undo_in(&self, mut nodes: impl Iterator<Item = NodeId>) -> bool {
        nodes.any(|id| {
            let id = match self.instances[id].kind {
                InstanceKind::Each { .. } => self.instances.body(id),
                _ => id,
            };
            self.may_undo_at(id, &self.resolved.contracts[id])
        })
    }

    fn may_undo_at(&self, id: NodeId, contract: &Contract) -> bool {
        contract.kind == Kind::Flow || self.instances.undo_node(id).is_some()
    }

    /// The edge of a route.
    pub(super) fn edge(&self, route: RouteIndex) -> &Edge {
        &self.resolved.graph.graph().edges[route.0]
    }

    /// The routes of a node, in the order of the edges.
    pub(super) fn routes(&self, node: NodeId) -> &[RouteIndex] {
        self.routes.get(&node).map_or(&[], Vec::as_slice)
    }

    /// The route of an action.
    pub(super) fn route(&self, node: NodeId, action: &str) -> Option<RouteIndex> {
        let mut routes = self.routes(node).iter().copied();
        routes.find(|route| self.edge(*route).action() == action)
    }

    /// The route that a node takes when it has failed. An end of a nested flow cannot have this
    /// name.
    pub(super) fn error_route(&self, node: NodeId, contract: &Contract) -> Option<RouteIndex> {
        let fallible = self.resolved.graph.graph().node(node).fallible;
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
