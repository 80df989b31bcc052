//! What an engine is told of loops by generated code.

use crate::engine::{Hooks, Scope};

/// Tells the engine that a loop begins, if it is known how many items there are.
#[inline]
pub fn loop_started(engine: &impl Hooks, scope: &Scope<'_>, items: &impl Iterator) {
    if let (least, Some(most)) = items.size_hint()
        && least == most
    {
        engine.loop_started(scope, least);
    }
}
