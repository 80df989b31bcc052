//! The states of the branches of a fork.

use crate::level::{Branch, Level};
use crate::run::state::{LoadedState, Own};

/// The state of each branch before it runs: with the values that its nodes take.
pub(crate) fn states_of_branches(
    level: &Level,
    branches: &[Branch],
    state: &mut LoadedState,
) -> Vec<Own> {
    let mut own = Vec::new();
    for branch in branches {
        let mut state_of_branch = Own::default();
        for &by in &branch.takes {
            let node = level.node(by.node);
            let read = &node.reads[by.read];
            let Some(key) = read.key else { continue };
            let value = if read.moves {
                state.cells_mut().remove(key)
            } else {
                state.cells().cloned(key)
            };
            state_of_branch.taken.push((by, key, value));
        }
        own.push(state_of_branch);
    }
    own
}

/// Writes the values of the branches to the state of the flow.
pub(crate) fn write_back(branches: &[Branch], own: Vec<Own>, state: &mut LoadedState) {
    for (branch, mut own) in branches.iter().zip(own) {
        for key in &branch.keys {
            if let Some(value) = own.remove(*key) {
                state.cells_mut().set(*key, value);
            }
        }
    }
}
