//! What an engine is told of loops by generated code.

use crate::engine::{Failed, Hooks, Scope};

/// Tells the engine that a loop begins, if it is known how many items there are.
#[inline]
pub fn loop_started(engine: &impl Hooks, scope: &Scope<'_>, items: &impl Iterator) {
    if let (least, Some(most)) = items.size_hint()
        && least == most
    {
        engine.loop_started(scope, least);
    }
}

/// The results of a loop whose items an engine may have run elsewhere. An engine that returns a state
/// without them is at fault.
pub async fn spread_results<T: Send>(
    engine: &impl Hooks,
    scope: &Scope<'_>,
    results: Option<T>,
) -> Result<T, Failed> {
    match results {
        Some(results) => Ok(results),
        None => {
            let reason = "the loop has no results".to_owned();
            Err(engine.unreadable(scope, reason).await)
        }
    }
}
