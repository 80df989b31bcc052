//! The facts about a graph that every pass needs.

use crate::graph::Graph;

use super::forks::Forks;
use super::found::Found;
use super::keys::Keys;
use super::mapped_keys;
use super::points::Points;
use super::routes::Routes;
use super::shape::Shape;
use super::undo::Undos;

/// The graph, and the facts about it that every pass needs.
pub(super) struct Model<'g> {
    pub(super) graph: &'g Graph,
    pub(super) shape: Shape,
    pub(super) undos: Undos,
    pub(super) routes: Routes,
    pub(super) points: Points,
    pub(super) keys: Keys<'g>,
    pub(super) forks: Forks<'g>,
}

impl<'g> Model<'g> {
    pub(super) fn new(graph: &'g Graph, found: &mut Found) -> Model<'g> {
        let shape = Shape::new(graph, found);
        let mut routes = Routes::new(graph, &shape, found);
        let undos = Undos::new(graph, &shape);
        mapped_keys::check(graph, &shape, &undos, &mut routes, found);
        let points = Points::new(graph, &shape, &undos, &routes);
        let keys = Keys::new(graph, &shape, &undos, &routes, &points);
        let forks = Forks::new(graph, &shape, &undos);
        Model {
            graph,
            shape,
            undos,
            routes,
            points,
            keys,
            forks,
        }
    }
}
