//! All paths from one node to another.
//!
//! There can be exponentially many, so they are found one at a time. A path is begun only if it can
//! be finished without revisiting a node. The time to the next path is therefore polynomial in the
//! size of the flow, however many paths there are.

use std::collections::HashMap;

use crate::document::FlowDocument;
use crate::names::composed;

use super::Step;

impl FlowDocument {
    /// Returns the paths from one node of this flow to another that pass no node twice; from a node
    /// to itself, the loops through it. Empty if there is no such node.
    ///
    /// There can be an enormous number: [`take`](Iterator::take) as many as you need.
    ///
    /// # Examples
    ///
    /// ```
    /// # let text = r#"{ "version": "2.0.0", "nodes": [
    /// #   { "type": "review", "id": "review" }, { "type": "revise", "id": "revise" }, { "type": "pay", "id": "pay" }
    /// # ], "entryNodeId": "review", "edges": [
    /// #   { "from": "review", "to": "pay", "condition": "approved" },
    /// #   { "from": "review", "to": "revise", "condition": "needs_revision" },
    /// #   { "from": "revise", "to": "review", "condition": "default" }
    /// # ] }"#;
    /// # let flow = flow_spec::FlowDocument::parse(text).unwrap();
    /// let loops: Vec<_> = flow.paths("review", "review").take(100).collect();
    /// assert_eq!(loops.len(), 1);
    /// assert_eq!(loops[0][0].condition, Some("needs_revision"));
    /// assert_eq!(loops[0][1].to, "review");
    /// ```
    pub fn paths(&self, from: &str, to: &str) -> Paths<'_> {
        let numbers = self.nodes.iter().enumerate();
        // If two nodes have one id, which a sound flow never has, the first one counts.
        let mut number: HashMap<&str, usize> = HashMap::new();
        for (index, node) in numbers {
            number.entry(&node.id).or_insert(index);
        }
        let steps = self.steps();
        let mut leaving = vec![Vec::new(); self.nodes.len()];
        for step in steps {
            if let (Some(&from), Some(&to)) = (number.get(step.from), number.get(step.to)) {
                leaving[from].push((step, to));
            }
        }
        let mut paths = Paths {
            leaving,
            target: 0,
            passed: vec![false; self.nodes.len()],
            trail: Vec::new(),
            open: Vec::new(),
        };
        if let (Some(&from), Some(&to)) = (number.get(&*composed(from)), number.get(&*composed(to)))
        {
            paths.target = to;
            paths.enter(from);
        }
        paths
    }
}

/// The paths from one node to another, each a list of steps; see [`FlowDocument::paths`].
#[derive(Debug, Clone)]
pub struct Paths<'a> {
    /// For each node, the steps that leave it, with the index of their targets.
    leaving: Vec<Vec<(Step<'a>, usize)>>,
    target: usize,
    passed: Vec<bool>,
    trail: Vec<Step<'a>>,
    /// The nodes on the trail, each with the number of its steps that were tried.
    open: Vec<Tried>,
}

#[derive(Debug, Clone, Copy)]
struct Tried {
    node: usize,
    steps: usize,
}

impl Paths<'_> {
    fn enter(&mut self, node: usize) {
        self.passed[node] = true;
        self.open.push(Tried { node, steps: 0 });
    }

    /// Returns `true` if a path leads from here to the target without a node on the trail.
    fn finishes(&self, start: usize) -> bool {
        let mut seen = self.passed.clone();
        let mut waiting = vec![start];
        while let Some(node) = waiting.pop() {
            for &(_, next) in &self.leaving[node] {
                if next == self.target {
                    return true;
                }
                if !std::mem::replace(&mut seen[next], true) {
                    waiting.push(next);
                }
            }
        }
        false
    }
}

impl<'a> Iterator for Paths<'a> {
    type Item = Vec<Step<'a>>;

    fn next(&mut self) -> Option<Vec<Step<'a>>> {
        while let Some(Tried { node, steps }) = self.open.last_mut() {
            let Some(&(step, next)) = self.leaving[*node].get(*steps) else {
                self.passed[*node] = false;
                self.open.pop();
                self.trail.pop();
                continue;
            };
            *steps += 1;
            if next == self.target {
                let mut path = self.trail.clone();
                path.push(step);
                return Some(path);
            }
            if !self.passed[next] && self.finishes(next) {
                self.trail.push(step);
                self.enter(next);
            }
        }
        None
    }
}

impl std::iter::FusedIterator for Paths<'_> {}
