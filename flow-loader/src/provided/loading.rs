//! What is provided while the value of a node is made of its `params`.
//!
//! A value's `Deserialize` cannot be handed anything, so the thread knows what is provided for as
//! long as it reads `params`. Reading does not leave the thread, so two loads cannot mix.

use std::cell::RefCell;
use std::sync::Arc;

use super::{DependencyError, Provided};

thread_local! {
    /// The innermost load is last: a value's `Deserialize` may itself load a flow.
    static LOADS: RefCell<Vec<Load>> = const { RefCell::new(Vec::new()) };
}

struct Load {
    provided: Arc<Provided>,
    refused: Option<DependencyError>,
}

/// Ends the load when it is dropped, also by a panic.
struct Ending;

impl Drop for Ending {
    fn drop(&mut self) {
        LOADS.with_borrow_mut(Vec::pop);
    }
}

/// Makes a value with what is provided. Returns also why a dependency was refused.
pub(crate) fn loading<T>(
    provided: &Arc<Provided>,
    make: impl FnOnce() -> T,
) -> (T, Option<DependencyError>) {
    LOADS.with_borrow_mut(|loads| {
        loads.push(Load {
            provided: provided.clone(),
            refused: None,
        });
    });
    let ending = Ending;
    let made = make();
    let refused = LOADS.with_borrow_mut(|loads| loads.last_mut().and_then(|it| it.refused.take()));
    drop(ending);
    (made, refused)
}

/// What is provided to the value that this thread makes. `None` if it makes none.
pub(super) fn provided() -> Option<Arc<Provided>> {
    LOADS.with_borrow(|loads| loads.last().map(|load| load.provided.clone()))
}

/// Keeps why a dependency is refused, for the error of the load.
pub(super) fn refuse(error: DependencyError) {
    LOADS.with_borrow_mut(|loads| {
        if let Some(load) = loads.last_mut() {
            load.refused = Some(error);
        }
    });
}

/// Forgets why a dependency in a param was refused, because the param was accepted all the same: an
/// untagged enum tries one variant after the other.
pub(crate) fn accepted() {
    LOADS.with_borrow_mut(|loads| {
        if let Some(load) = loads.last_mut() {
            load.refused = None;
        }
    });
}
