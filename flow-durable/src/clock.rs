//! The clock for times that are stored.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use flow_store::to_ms;

/// The clock for times that are stored.
pub(crate) type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// How often a sleeper checks the clock, which may have been set.
const LOOK_AT_CLOCK: Duration = Duration::from_secs(1);

/// Sleeps until the clock shows this time, in milliseconds since 1970 (UTC).
pub(crate) async fn sleep_until(clock: &Clock, until_ms: u64) {
    loop {
        let left = until_ms.saturating_sub(to_ms(clock()));
        if left == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(left).min(LOOK_AT_CLOCK)).await;
    }
}
