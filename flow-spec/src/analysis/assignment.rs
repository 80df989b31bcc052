//! Definite assignment: finds the points at which a key may still be unwritten, and a path to each.
//!
//! A forward analysis of every key at every point takes quadratic time, and so does a search from
//! each reader back to `start`. Here the search goes back along the dominator tree. It skips in one
//! step every part of the flow without an adjacent writer of the key, so it only walks the
//! surroundings of the writers. This is right because every path to a point `p` passes its
//! dominators: `p` can be reached without a write if its immediate dominator `d` can be, and `p`
//! from `d`. For the second part, only a writer below `d` but not below `p` can be in the way.

use std::collections::VecDeque;

use super::dominators::Dominators;
use super::points::{Point, Points, START};

/// Answers the question for one key after the other.
pub(super) struct Assignment<'a> {
    points: &'a Points,
    tree: &'a Dominators,
    /// The writers of the current key, as ascending numbers of the tree.
    writers: Vec<usize>,
    /// For each number of the tree, the last question for which it was searched.
    searched: Vec<usize>,
    question: usize,
    /// For each point, the one before it on a shortest path from `start`, regardless of keys.
    plain: Option<Vec<Option<usize>>>,
}

/// A place where a key may be unwritten: the index of the point in `asked`, the point before it, and
/// the edges of a shortest path to it.
pub(super) struct Unassigned {
    pub(super) asked: usize,
    pub(super) before: usize,
    pub(super) path: Vec<usize>,
}

impl<'a> Assignment<'a> {
    pub(super) fn new(points: &'a Points, tree: &'a Dominators) -> Assignment<'a> {
        let searched = vec![0; tree.len()];
        Assignment {
            points,
            tree,
            writers: Vec::new(),
            searched,
            question: 0,
            plain: None,
        }
    }

    /// Returns the points of `asked` that a run can reach without passing one of the points
    /// `written_at`. Builds each path only when it is needed, because all paths together can be far
    /// longer than the flow.
    pub(super) fn unassigned<'q>(
        &'q mut self,
        written_at: &[usize],
        asked: &'q [usize],
    ) -> impl Iterator<Item = Unassigned> + use<'a, 'q> {
        let is_missing = !self.is_assigned(written_at, asked);
        let before = is_missing.then(|| self.paths_without(written_at));
        asked.iter().enumerate().filter_map(move |(asked, &point)| {
            let path = self.edges(before.as_ref()?, point)?;
            let before = before.as_ref()?[point].unwrap_or(START);
            Some(Unassigned {
                asked,
                before,
                path,
            })
        })
    }

    /// Returns `true` if a run passes one of the points `written_at` before it reaches any of the
    /// points `asked`.
    pub(super) fn is_assigned(&mut self, written_at: &[usize], asked: &[usize]) -> bool {
        self.question += 1;
        self.writers.clear();
        self.writers.extend(
            written_at
                .iter()
                .filter_map(|&point| self.tree.number(point)),
        );
        self.writers.sort_unstable();
        !asked.iter().any(|&point| {
            self.tree
                .number(point)
                .is_some_and(|number| self.reached_without(number))
        })
    }

    /// Returns `true` if there is a path from `start` to `target` without a writer before `target`.
    fn reached_without(&mut self, target: usize) -> bool {
        let mut waiting = vec![target];
        while let Some(number) = waiting.pop() {
            let Some(above) = self.tree.lowest_beside(&self.writers, number) else {
                return true;
            };
            if self.is_writer(above) {
                continue;
            }
            let top = self.tree.child_towards(above, number);
            if std::mem::replace(&mut self.searched[top], self.question) == self.question {
                continue;
            }
            for &before in self.points.predecessors.of(self.tree.vertex(top)) {
                // A path through `top` tells nothing new about how to reach it.
                let before = self
                    .tree
                    .number(before)
                    .filter(|&before| !self.tree.dominates(top, before));
                waiting.extend(before.filter(|&before| !self.is_writer(before)));
            }
        }
        false
    }

    fn is_writer(&self, number: usize) -> bool {
        self.writers.binary_search(&number).is_ok()
    }

    /// For each point that a run can reach without a write, the point before it on a shortest such
    /// path.
    fn paths_without(&mut self, written_at: &[usize]) -> Vec<Option<usize>> {
        let points = self.points;
        if written_at.is_empty() {
            return self
                .plain
                .get_or_insert_with(|| shortest_paths(points, written_at))
                .clone();
        }
        shortest_paths(points, written_at)
    }

    fn edges(&self, before: &[Option<usize>], point: usize) -> Option<Vec<usize>> {
        let mut edges = Vec::new();
        let mut at = point;
        while at != START {
            if let Point::Edge(edge) = self.points.kinds[at] {
                edges.push(edge);
            }
            at = before[at]?;
        }
        edges.reverse();
        Some(edges)
    }
}

fn shortest_paths(points: &Points, written_at: &[usize]) -> Vec<Option<usize>> {
    let mut closed = points.unclear.clone();
    written_at.iter().for_each(|&point| closed[point] = true);
    let mut before = vec![None; points.kinds.len()];
    let mut waiting = VecDeque::from([START]);
    while let Some(point) = waiting.pop_front() {
        if closed[point] {
            continue;
        }
        for &next in points.successors.of(point) {
            if before[next].is_none() && next != START && !points.unclear[next] {
                before[next] = Some(point);
                waiting.push_back(next);
            }
        }
    }
    before
}
