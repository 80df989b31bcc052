//! The visits that undo nodes take back, in the words of messages about what they read.

use super::model::Model;
use super::points::Point;
use super::routes::{Effect, Source};
use super::words;
use crate::graph::{DEFAULT_ACTION, Graph, NodeId};

/// A visit that an undo node takes back.
pub(super) struct TakenBack<'g> {
    pub(super) node: NodeId,
    action: &'g str,
}

impl<'g> TakenBack<'g> {
    /// The visit that is done at this point, before an undo node is reached.
    pub(super) fn before(model: &Model<'g>, at: usize) -> Option<TakenBack<'g>> {
        let graph = model.graph;
        let (node, action) = match model.points.kinds[at] {
            Point::Decided(node, action) => (node, graph.node(node).actions.get(action)),
            Point::Done(node) => (node, None),
            Point::Edge(edge) => {
                let route = &model.routes.edges[edge];
                let Source::Node(node) = route.from else {
                    return None;
                };
                match route.effect {
                    Effect::Action(_, action) => (node, graph.node(node).actions.get(action)),
                    _ => (node, None),
                }
            }
            _ => return None,
        };
        let action = action.map_or(DEFAULT_ACTION, |action| &action.name);
        Some(TakenBack { node, action })
    }

    /// Says that a key is missing then.
    pub(super) fn is_missing(&self, graph: &Graph) -> String {
        let name = words::name(graph, self.node);
        if self.action == DEFAULT_ACTION {
            format!("which is not there after every visit to `{name}`")
        } else {
            format!("which is not there if `{name}` takes \"{}\"", self.action)
        }
    }
}
