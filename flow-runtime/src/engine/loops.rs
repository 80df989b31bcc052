//! Events of loops that generated code reports to an engine.

use crate::engine::{Failed, Hooks, Scope};

/// Tells the engine that a loop begins, if the number of items is known.
#[inline]
pub fn loop_started(engine: &impl Hooks, scope: &Scope<'_>, items: &impl Iterator) {
    if let (least, Some(most)) = items.size_hint()
        && least == most
    {
        engine.loop_started(scope, least);
    }
}

/// The results of a loop whose items an engine may have run elsewhere. A state without them is a
/// mistake of the engine.
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
