//! The states of the branches of a fork or a race.

use crate::cell::Cell;
use crate::level::{Branch, Level};
use crate::place::{Cells, Own};

/// The state of each branch before it runs: with the values that its nodes take.
pub(crate) fn states_of_branches(
    level: &Level,
    branches: &[Branch],
    cells: &mut Cells,
) -> Vec<Own> {
    let mut own = Vec::with_capacity(branches.len());
    for branch in branches {
        let mut state_of_branch = Own::default();
        for &by in &branch.takes {
            let node = level.node(by.node);
            let read = &node.ports.reads[by.read];
            let Some(key) = read.key else { continue };
            let value = if read.moves {
                cells.cell(key).remove()
            } else {
                cells.cloned(key, level.key(key).ty)
            };
            state_of_branch.taken.push((by, key, Cell::from(value)));
        }
        own.push(state_of_branch);
    }
    own
}

/// Writes the values of the branches to the state of the flow.
pub(crate) fn write_back(branches: &[Branch], own: Vec<Own>, cells: &mut Cells) {
    for (branch, mut own) in branches.iter().zip(own) {
        for key in &branch.keys {
            if let Some(value) = own.written(*key).and_then(Cell::remove) {
                cells.cell(*key).set(value);
            }
        }
        for (key, adder, more) in own.added {
            match more {
                Some(more) => adder.add(cells.cell(key), more),
                None => adder.begin(cells.cell(key)),
            }
        }
    }
}
