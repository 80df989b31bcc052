//! The plan of a flow: what its expansion looks things up in, and the order in which its nodes are
//! written. Data and questions, no tokens.

use std::collections::{HashMap, HashSet};

use flow_spec::{ERROR_ACTION, EdgeSource, EdgeTarget, NodeId};

use super::instances::{Instance, InstanceKind, Instances};
use super::resolve::Resolved;
use super::syntax::FlowSyntax;
use super::types::TypeNames;
use crate::contract::{Contract, Kind};

/// A flow without mistakes, with lookup tables for its expansion.
pub(super) struct Plan<'a> {
    pub(super) flow: &'a FlowSyntax,
    pub(super) instances: &'a Instances,
    pub(super) resolved: &'a Resolved,
    pub(super) names: TypeNames,
    /// What loops over items run.
    pub(super) bodies: HashSet<usize>,
    /// These, and what stands in a fork: the loop itself does not visit them.
    pub(super) inner: HashSet<usize>,
    /// By node and action: the index of the route.
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
        Plan {
            flow,
            instances,
            resolved,
            names: TypeNames::of(flow),
            bodies,
            inner,
            routes: routes.collect(),
        }
    }
}

impl Plan<'_> {
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

    /// The route that a node takes when it has failed. An end of a nested flow cannot be named so.
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

    /// The nodes of the loop, each after those that lead to it, unless it leads back to them.
    pub(super) fn in_order(&self) -> Vec<usize> {
        let mut targets = vec![Vec::new(); self.instances.list.len()];
        let mut starts = Vec::new();
        for edge in &self.resolved.graph.graph().edges {
            match (&edge.from, &edge.to) {
                (EdgeSource::Node(NodeId(from)), EdgeTarget::Node(NodeId(to))) => {
                    targets[*from].push(*to)
                }
                (EdgeSource::Start, EdgeTarget::Node(NodeId(first))) => starts.push(*first),
                (_, EdgeTarget::End(_)) => {}
            }
        }
        // Depth first: a node is done when all that it leads to is. The last one that is done comes
        // first.
        let mut done = Vec::new();
        let mut seen = self.inner.clone();
        let mut under_way = Vec::new();
        for root in starts.into_iter().chain(0..targets.len()) {
            if seen.insert(root) {
                under_way.push(root);
            }
            while let Some(&node) = under_way.last() {
                match targets[node].pop() {
                    Some(next) if seen.insert(next) => under_way.push(next),
                    Some(_) => {}
                    None => done.extend(under_way.pop()),
                }
            }
        }
        done.reverse();
        done
    }
}
