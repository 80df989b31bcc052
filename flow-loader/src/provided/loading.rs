//! The provided values while a node's value is made from its `params`.
//!
//! `Deserialize` takes no other arguments, so the provided values are kept in the thread while it
//! reads `params`. Reading stays in the thread, so two loads cannot mix.

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

/// Ends the load when it is dropped, even by a panic.
struct Ending;

impl Drop for Ending {
    fn drop(&mut self) {
        LOADS.with_borrow_mut(Vec::pop);
    }
}

/// Makes a value with the provided values. Also returns the reason why a dependency was refused.
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

/// The values provided for the value that this thread makes. `None` if it makes none.
pub(super) fn provided() -> Option<Arc<Provided>> {
    LOADS.with_borrow(|loads| loads.last().map(|load| load.provided.clone()))
}

/// Keeps the reason why a dependency is refused, for the error of the load.
pub(super) fn refuse(error: DependencyError) {
    LOADS.with_borrow_mut(|loads| {
        if let Some(load) = loads.last_mut() {
            load.refused = Some(error);
        }
    });
}

/// Forgets why a dependency in a param was refused, because the param was accepted after all: an
/// untagged enum tries one variant after the other.
pub(crate) fn accepted() {
    LOADS.with_borrow_mut(|loads| {
        if let Some(load) = loads.last_mut() {
            load.refused = None;
        }
    });
}
