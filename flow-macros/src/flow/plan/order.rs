//! The order in which the nodes of a flow are written.

use flow_spec::{EdgeSource, EdgeTarget, NodeId};

use super::Plan;

impl Plan<'_> {
    /// The nodes of the loop. Each comes after those that lead to it, except those to which it
    /// leads back.
    pub(in crate::flow) fn in_order(&self) -> Vec<usize> {
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
        // Depth first: a node is done when all nodes to which it leads are done. The last one done
        // comes first.
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
