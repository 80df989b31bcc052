//! Strongly connected components: the points of a flow that are on a loop together.
//!
//! Tarjan's algorithm, with an explicit call stack, because a flow may be thousands of steps deep.

use super::adjacency::Adjacency;

const NEW: usize = usize::MAX;

/// The component of each vertex. A component has a greater number than all others to which it
/// leads.
pub(super) struct Components {
    of: Vec<usize>,
    count: usize,
}

impl Components {
    pub(super) fn new(successors: &Adjacency) -> Components {
        let count = successors.len();
        let mut search = Search {
            successors,
            order: vec![NEW; count],
            low: vec![0; count],
            seen: 0,
            open: Vec::new(),
            path: Vec::new(),
            components: Components {
                of: vec![NEW; count],
                count: 0,
            },
        };
        for root in 0..count {
            if search.order[root] == NEW {
                search.run(root);
            }
        }
        search.components
    }

    /// The number of the component of `vertex`.
    pub(super) fn of(&self, vertex: usize) -> usize {
        self.of[vertex]
    }

    /// The number of components.
    pub(super) fn count(&self) -> usize {
        self.count
    }
}

struct Search<'a> {
    successors: &'a Adjacency,
    order: Vec<usize>,
    low: Vec<usize>,
    seen: usize,
    /// Vertices whose component is not known yet.
    open: Vec<usize>,
    /// The path being walked, with the number of arcs followed from each vertex on it.
    path: Vec<(usize, usize)>,
    components: Components,
}

impl Search<'_> {
    fn run(&mut self, root: usize) {
        self.enter(root);
        while let Some(&mut (vertex, ref mut followed)) = self.path.last_mut() {
            if let Some(&next) = self.successors.of(vertex).get(*followed) {
                *followed += 1;
                if self.order[next] == NEW {
                    self.enter(next);
                } else if self.components.of[next] == NEW {
                    self.low[vertex] = self.low[vertex].min(self.order[next]);
                }
            } else {
                self.path.pop();
                self.leave(vertex);
            }
        }
    }

    fn enter(&mut self, vertex: usize) {
        self.order[vertex] = self.seen;
        self.low[vertex] = self.seen;
        self.seen += 1;
        self.open.push(vertex);
        self.path.push((vertex, 0));
    }

    fn leave(&mut self, vertex: usize) {
        if let Some(&(before, _)) = self.path.last() {
            self.low[before] = self.low[before].min(self.low[vertex]);
        }
        if self.low[vertex] != self.order[vertex] {
            return;
        }
        while let Some(member) = self.open.pop() {
            self.components.of[member] = self.components.count;
            if member == vertex {
                break;
            }
        }
        self.components.count += 1;
    }
}
