//! The dominator tree against its definition, on random graphs.

use proptest::prelude::*;

use crate::analysis::adjacency::Adjacency;
use crate::analysis::dominators::Dominators;

/// A graph whose vertices are `0..count`, and its root 0.
#[derive(Debug, Clone)]
struct Arcs {
    count: usize,
    arcs: Vec<(usize, usize)>,
}

fn arcs() -> impl Strategy<Value = Arcs> {
    (1..12usize).prop_flat_map(|count| {
        let arcs = prop::collection::vec((0..count, 0..count), 0..3 * count);
        arcs.prop_map(move |arcs| Arcs { count, arcs })
    })
}

impl Arcs {
    fn tree(&self) -> Dominators {
        let forth = Adjacency::new(self.count, self.arcs.iter().copied());
        let back = self.arcs.iter().map(|&(from, to)| (to, from));
        let back = Adjacency::new(self.count, back);
        Dominators::new(&forth, &back, 0, |_| true)
    }

    /// The vertices that can be reached from the root without `avoided`.
    fn reached(&self, avoided: Option<usize>) -> Vec<bool> {
        let mut reached = vec![false; self.count];
        reached[0] = avoided != Some(0);
        for _ in 0..self.count {
            for &(from, to) in &self.arcs {
                reached[to] |= reached[from] && avoided != Some(to);
            }
        }
        reached
    }

    fn dominates(&self, above: usize, below: usize) -> bool {
        self.reached(None)[below] && !self.reached(Some(above))[below]
    }

    /// The one of these dominators of a vertex that all others dominate.
    fn lowest(&self, chain: impl Iterator<Item = usize>) -> Option<usize> {
        chain.reduce(|left, right| {
            if self.dominates(left, right) {
                right
            } else {
                left
            }
        })
    }
}

proptest! {
    #[test]
    fn the_tree_is_as_defined(graph in arcs(), marked in prop::collection::vec(any::<bool>(), 12)) {
        let tree = graph.tree();
        let reached = graph.reached(None);
        let vertices: Vec<usize> = (0..graph.count).filter(|&vertex| reached[vertex]).collect();
        prop_assert_eq!(tree.len(), vertices.len());
        for (vertex, &is_reached) in reached.iter().enumerate() {
            let number = tree.number(vertex);
            prop_assert_eq!(number.is_some(), is_reached);
            prop_assert!(number.is_none_or(|number| tree.vertex(number) == vertex));
        }
        let number = |vertex: usize| tree.number(vertex).expect("it is reached");
        let mut marks: Vec<usize> = vertices.iter().copied().filter(|&vertex| marked[vertex]).collect();
        let is_marked = marks.clone();
        marks = marks.into_iter().map(number).collect();
        marks.sort_unstable();
        for &at in &vertices {
            let above = vertices.iter().copied().filter(|&above| graph.dominates(above, at));
            let strictly = above.clone().filter(|&above| above != at);
            let is_beside = |&above: &usize| {
                is_marked.iter().any(|&mark| {
                    graph.dominates(above, mark) && !graph.dominates(at, mark)
                })
            };
            let beside = graph.lowest(strictly.clone().filter(is_beside));
            prop_assert_eq!(tree.lowest_beside(&marks, number(at)).map(|found| tree.vertex(found)), beside);
            let any = is_marked.iter().any(|&mark| graph.dominates(at, mark));
            prop_assert_eq!(tree.is_above_any(&marks, number(at)), any);
            for &other in &vertices {
                prop_assert_eq!(tree.dominates(number(at), number(other)), graph.dominates(at, other));
                let both = above.clone().filter(|&above| graph.dominates(above, other));
                let common = graph.lowest(both).expect("the root dominates all");
                prop_assert_eq!(tree.vertex(tree.common(number(at), number(other))), common);
                if at != other && graph.dominates(at, other) {
                    let below = vertices.iter().copied().filter(|&below| {
                        below != at && graph.dominates(at, below) && graph.dominates(below, other)
                    });
                    let highest = below.reduce(|left, right| if graph.dominates(left, right) { left } else { right });
                    let child = tree.child_towards(number(at), number(other));
                    prop_assert_eq!(Some(tree.vertex(child)), highest);
                }
            }
        }
    }
}
