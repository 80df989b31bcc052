//! The neighbours in a directed graph, packed into two arrays: built once, then only read.

/// For each vertex, the vertices to which its arcs lead.
#[derive(Debug, Clone)]
pub(super) struct Adjacency {
    first: Vec<usize>,
    targets: Vec<usize>,
}

impl Adjacency {
    /// Builds it from arcs between the vertices `0..count`. The order of the arcs is kept.
    pub(super) fn new(
        count: usize,
        arcs: impl IntoIterator<Item = (usize, usize)> + Clone,
    ) -> Adjacency {
        let mut first = vec![0; count + 1];
        for (from, _) in arcs.clone() {
            first[from + 1] += 1;
        }
        for vertex in 0..count {
            first[vertex + 1] += first[vertex];
        }
        let mut next = first.clone();
        let mut targets = vec![0; first[count]];
        for (from, to) in arcs {
            targets[next[from]] = to;
            next[from] += 1;
        }
        Adjacency { first, targets }
    }

    /// The number of vertices.
    pub(super) fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// The vertices to which the arcs of `vertex` lead.
    pub(super) fn of(&self, vertex: usize) -> &[usize] {
        &self.targets[self.first[vertex]..self.first[vertex + 1]]
    }

    /// The vertices that can be reached from `starts`, including these.
    pub(super) fn reach(&self, starts: impl IntoIterator<Item = usize>) -> Vec<bool> {
        let mut reached = vec![false; self.len()];
        let mut waiting: Vec<usize> = Vec::new();
        for start in starts {
            if !std::mem::replace(&mut reached[start], true) {
                waiting.push(start);
            }
        }
        while let Some(vertex) = waiting.pop() {
            for &next in self.of(vertex) {
                if !std::mem::replace(&mut reached[next], true) {
                    waiting.push(next);
                }
            }
        }
        reached
    }
}
