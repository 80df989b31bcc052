//! The dominator tree: the points that every path from `start` must pass, and questions about them.
//!
//! Long loops make the shorter, iterative algorithms slow. Lengauer and Tarjan's algorithm (A Fast
//! Algorithm for Finding Dominators in a Flowgraph, 1979) stays fast. The tree's vertices are then
//! numbered in preorder, so that a subtree is an interval, and cut into heavy paths, so that common
//! ancestors are found in logarithmic time.

use super::adjacency::Adjacency;

const NONE: usize = usize::MAX;

/// The dominator tree. Its vertices are preorder numbers; the root is 0.
pub(super) struct Dominators {
    number: Vec<usize>,
    vertex: Vec<usize>,
    parent: Vec<usize>,
    size: Vec<usize>,
    /// The child with the largest subtree.
    heavy: Vec<usize>,
    /// The top of the heavy path of the vertex.
    head: Vec<usize>,
}

impl Dominators {
    /// Builds the tree of the part of a graph that can be reached from `root` through vertices that
    /// are `open`.
    pub(super) fn new(
        successors: &Adjacency,
        predecessors: &Adjacency,
        root: usize,
        open: impl Fn(usize) -> bool,
    ) -> Dominators {
        let walk = Walk::new(successors, root, open);
        let immediate = walk.immediate_dominators(predecessors);
        Dominators::from_tree(&walk, &immediate)
    }

    fn from_tree(walk: &Walk, immediate: &[usize]) -> Dominators {
        let count = immediate.len();
        let mut size = vec![1; count];
        for at in (1..count).rev() {
            size[immediate[at]] += size[at];
        }
        // A dominator comes first in the walk, so its number is known before those of its children.
        let mut preorder = vec![0; count];
        let mut next = vec![1; count];
        for at in 1..count {
            let above = immediate[at];
            preorder[at] = next[above];
            next[above] += size[at];
            next[at] = preorder[at] + 1;
        }
        let mut tree = Dominators {
            number: vec![NONE; walk.number.len()],
            vertex: vec![0; count],
            parent: vec![0; count],
            size: vec![1; count],
            heavy: vec![NONE; count],
            head: (0..count).collect(),
        };
        for at in 0..count {
            tree.number[walk.vertex[at]] = preorder[at];
            tree.vertex[preorder[at]] = walk.vertex[at];
            tree.parent[preorder[at]] = preorder[immediate[at]];
            tree.size[preorder[at]] = size[at];
        }
        for at in 1..count {
            let above = tree.parent[at];
            if tree.heavy[above] == NONE || tree.size[tree.heavy[above]] < tree.size[at] {
                tree.heavy[above] = at;
            }
        }
        for at in 1..count {
            if tree.heavy[tree.parent[at]] == at {
                tree.head[at] = tree.head[tree.parent[at]];
            }
        }
        tree
    }

    /// The number of vertices in the tree.
    pub(super) fn len(&self) -> usize {
        self.vertex.len()
    }

    /// The number of a vertex of the graph in the tree, if the vertex is reached.
    pub(super) fn number(&self, vertex: usize) -> Option<usize> {
        Some(self.number[vertex]).filter(|&number| number != NONE)
    }

    /// The graph's vertex with this number.
    pub(super) fn vertex(&self, number: usize) -> usize {
        self.vertex[number]
    }

    /// The first number after those below `at`.
    pub(super) fn end(&self, at: usize) -> usize {
        at + self.size[at]
    }

    /// Returns `true` if every path to `below` passes `above`, or if they are the same.
    pub(super) fn dominates(&self, above: usize, below: usize) -> bool {
        above <= below && below < self.end(above)
    }

    /// The lowest strict dominator of `at` that is marked, or that has a marked vertex below it
    /// that is not below `at`. The marks ascend.
    pub(super) fn lowest_beside(&self, marks: &[usize], at: usize) -> Option<usize> {
        let first = marks.partition_point(|&mark| mark < at);
        let after = marks.partition_point(|&mark| mark < self.end(at));
        let nearest = first.checked_sub(1).map(|left| marks[left]);
        let nearest = nearest.into_iter().chain(marks.get(after).copied());
        nearest.map(|mark| self.common(at, mark)).max()
    }

    /// Returns `true` if `at` or a vertex below it is marked. The marks ascend.
    pub(super) fn is_above_any(&self, marks: &[usize], at: usize) -> bool {
        let first = marks.partition_point(|&mark| mark < at);
        marks.get(first).is_some_and(|&mark| mark < self.end(at))
    }

    /// The nearest vertex that dominates both.
    pub(super) fn common(&self, mut left: usize, mut right: usize) -> usize {
        while self.head[left] != self.head[right] {
            if self.head[left] > self.head[right] {
                left = self.parent[self.head[left]];
            } else {
                right = self.parent[self.head[right]];
            }
        }
        left.min(right)
    }

    /// The child of `above` whose subtree contains `below`. `above` must strictly dominate `below`.
    pub(super) fn child_towards(&self, above: usize, mut below: usize) -> usize {
        while self.head[above] != self.head[below] {
            let head = self.head[below];
            if self.parent[head] == above {
                return head;
            }
            below = self.parent[head];
        }
        self.heavy[above]
    }
}

/// A depth-first walk: the vertices that it reached, numbered in the order of discovery.
struct Walk {
    number: Vec<usize>,
    vertex: Vec<usize>,
    parent: Vec<usize>,
}

impl Walk {
    fn new(successors: &Adjacency, root: usize, open: impl Fn(usize) -> bool) -> Walk {
        let mut walk = Walk {
            number: vec![NONE; successors.len()],
            vertex: Vec::new(),
            parent: Vec::new(),
        };
        let mut path = vec![(root, 0)];
        walk.enter(root, 0);
        while let Some(&mut (vertex, ref mut followed)) = path.last_mut() {
            let Some(&next) = successors.of(vertex).get(*followed) else {
                path.pop();
                continue;
            };
            *followed += 1;
            if walk.number[next] == NONE && open(next) {
                walk.enter(next, walk.number[vertex]);
                path.push((next, 0));
            }
        }
        walk
    }

    fn enter(&mut self, vertex: usize, parent: usize) {
        self.number[vertex] = self.vertex.len();
        self.vertex.push(vertex);
        self.parent.push(parent);
    }

    /// The immediate dominator of each vertex, in the walk's numbers.
    fn immediate_dominators(&self, predecessors: &Adjacency) -> Vec<usize> {
        let count = self.vertex.len();
        let mut forest = Forest::new(count);
        let mut buckets = vec![Vec::new(); count];
        let mut immediate = vec![0; count];
        for at in (1..count).rev() {
            for &before in predecessors.of(self.vertex[at]) {
                let before = self.number[before];
                if before != NONE {
                    let best = forest.best(before);
                    forest.semi[at] = forest.semi[at].min(forest.semi[best]);
                }
            }
            buckets[forest.semi[at]].push(at);
            let parent = self.parent[at];
            forest.ancestor[at] = parent;
            for member in std::mem::take(&mut buckets[parent]) {
                let best = forest.best(member);
                immediate[member] = if forest.semi[best] < forest.semi[member] {
                    best
                } else {
                    parent
                };
            }
        }
        for at in 1..count {
            if immediate[at] != forest.semi[at] {
                immediate[at] = immediate[immediate[at]];
            }
        }
        immediate
    }
}

/// The walk's tree as far as it has been handled, with the least semidominator above each vertex.
struct Forest {
    semi: Vec<usize>,
    ancestor: Vec<usize>,
    label: Vec<usize>,
    path: Vec<usize>,
}

impl Forest {
    fn new(count: usize) -> Forest {
        Forest {
            semi: (0..count).collect(),
            ancestor: vec![NONE; count],
            label: (0..count).collect(),
            path: Vec::new(),
        }
    }

    /// The vertex with the least semidominator between `at` and the root of its tree, which is
    /// excluded.
    fn best(&mut self, at: usize) -> usize {
        if self.ancestor[at] == NONE {
            return at;
        }
        let mut above = at;
        while self.ancestor[self.ancestor[above]] != NONE {
            self.path.push(above);
            above = self.ancestor[above];
        }
        while let Some(below) = self.path.pop() {
            let next = self.ancestor[below];
            if self.semi[self.label[next]] < self.semi[self.label[below]] {
                self.label[below] = self.label[next];
            }
            self.ancestor[below] = self.ancestor[next];
        }
        self.label[at]
    }
}
