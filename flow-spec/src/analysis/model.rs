//! The facts about a graph that every pass needs.

use crate::graph::Graph;

use super::forks::Forks;
use super::found::Found;
use super::keys::Keys;
use super::mapped_keys;
use super::points::Points;
use super::routes::Routes;
use super::shape::Shape;

/// The graph, and the facts about it that every pass needs.
pub(super) struct Model<'g> {
    pub(super) graph: &'g Graph,
    pub(super) shape: Shape,
    pub(super) routes: Routes,
    pub(super) points: Points,
    pub(super) keys: Keys<'g>,
    pub(super) forks: Forks<'g>,
}

impl<'g> Model<'g> {
    pub(super) fn new(graph: &'g Graph, found: &mut Found) -> Model<'g> {
        let shape = Shape::new(graph, found);
        let mut routes = Routes::new(graph, &shape, found);
        mapped_keys::check(graph, &shape, &mut routes, found);
        let points = Points::new(graph, &shape, &routes);
        let keys = Keys::new(graph, &shape, &routes, &points);
        let forks = Forks::new(graph, &shape);
        Model {
            graph,
            shape,
            routes,
            points,
            keys,
            forks,
        }
    }
}
