//! The order in which the nodes of a flow are written.

use std::collections::HashMap;

use flow_spec::{EdgeSource, EdgeTarget, NodeId};

use super::Plan;

impl Plan<'_> {
    /// The nodes of the loop. Each comes after those that lead to it, except those to which it
    /// leads back.
    pub(in crate::flow) fn in_order(&self) -> Vec<NodeId> {
        let mut targets: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        let mut starts = Vec::new();
        for edge in &self.resolved.graph.graph().edges {
            match (&edge.from, &edge.to) {
                (EdgeSource::Node(from), EdgeTarget::Node(to)) => {
                    targets.entry(*from).or_default().push(*to);
                }
                (EdgeSource::Start, EdgeTarget::Node(first)) => starts.push(*first),
                (_, EdgeTarget::End(_)) => {}
            }
        }
        // Depth first: a node is done when all nodes to which it leads are done. The last one done
        // comes first.
        let mut done = Vec::new();
        let mut seen = self.inner.clone();
        let mut under_way = Vec::new();
        let all = self.instances.iter().map(|(id, _)| id);
        for root in starts.into_iter().chain(all) {
            if seen.insert(root) {
                under_way.push(root);
            }
            while let Some(&node) = under_way.last() {
                match targets.get_mut(&node).and_then(Vec::pop) {
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
