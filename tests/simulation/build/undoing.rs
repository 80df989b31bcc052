//! The parts of flows that are undone: steps with undo nodes, and the steps `undo` and `commit`.

use crate::{Block, Generator};

impl Generator<'_> {
    /// A step with an undo node: its name, and whether it can fail.
    pub(crate) fn booking(&mut self) -> (String, bool) {
        let function = ["book", "risky_book", "tried_book"][self.rng.usize(..3)];
        (self.books_with(function), function != "book")
    }

    /// A step with an undo node that runs this function.
    pub(crate) fn books_with(&mut self, function: &str) -> String {
        let (id, key) = (self.id(), self.key());
        self.declare(&format!("node u{id}: unbook {{ w <- kn{id} }}"));
        self.declare(&format!(
            "node n{id}: {function} {{ a <- {key}, w -> kn{id} }} with undo = u{id}"
        ));
        format!("n{id}")
    }

    /// Something that is done, undone or kept.
    pub(crate) fn undoing(&mut self) -> Block {
        match self.rng.usize(..8) {
            0..=3 => self.books(),
            4 => self.behind("commit"),
            5 => self.behind("undo"),
            6 => self.forks(),
            _ => match self.declared_flow() {
                Some(node) => self.or_undone(node, true),
                None => self.books(),
            },
        }
    }

    pub(crate) fn books(&mut self) -> Block {
        let (node, can_fail) = self.booking();
        self.or_undone(node, can_fail)
    }

    /// A node. If it fails, that ends the flow, or leads to another node, perhaps behind an `undo`.
    fn or_undone(&mut self, node: String, can_fail: bool) -> Block {
        let key = format!("k{node}");
        let mut exits = vec![node.clone()];
        if can_fail && self.rng.u8(..3) > 0 {
            let other = self.instead(&key);
            let undo = ["", "undo >> "][usize::from(self.rng.bool())];
            self.lead(&[format!("{node} - \"error\"")], &format!("{undo}{other}"));
            exits.push(other);
        }
        self.keys.push(key);
        Block { entry: node, exits }
    }

    /// A node behind a step.
    fn behind(&mut self, step: &str) -> Block {
        let block = self.plain("work");
        Block {
            entry: format!("{step} >> {}", block.entry),
            ..block
        }
    }
}
