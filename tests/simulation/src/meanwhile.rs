//! What another process does while one is stopped, as by `SIGSTOP`, for longer than its claims last.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::Simulated;
use crate::backend::Stored;
use crate::case::{Case, Freeze, Stop, StopKind};
use crate::check::{parts, stored};
use crate::clock::Wall;
use crate::laws;
use crate::process::{LEASE, Machine, Work};
use crate::world::{World, world};

/// The other process.
pub(crate) struct Meanwhile {
    pub(crate) freeze: Freeze,
    pub(crate) stored: Stored,
    pub(crate) clock: Arc<Wall>,
    pub(crate) case: Case,
    pub(crate) flow: Simulated,
    pub(crate) work: Work,
}

impl fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Meanwhile").field(&self.freeze).finish()
    }
}

impl Meanwhile {
    /// Runs the other process until it dies or has nothing left to do, and lets as much time pass for
    /// this one. What was stored meanwhile must not run again.
    pub(crate) async fn pass(&self) {
        let stopped = LEASE + Duration::from_secs(1);
        let began = self.clock.read() + stopped;
        let noted = world(std::mem::take);
        // A tokio runtime cannot be driven within another one.
        let (noted, now) = std::thread::scope(|scope| {
            let other = scope.spawn(|| self.run(noted, Wall::showing(began)));
            match other.join() {
                Ok(ended) => ended,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        });
        world(|world| *world = noted);
        let took = now.duration_since(began).unwrap_or_default();
        world(|world| world.runs.push("the process that was stopped".to_owned()));
        tokio::time::advance(stopped + took).await;
    }

    fn run(&self, noted: World, clock: Wall) -> (World, SystemTime) {
        world(|world| *world = noted);
        let case = Case {
            freeze: None,
            moves: false,
            ..self.case.clone()
        };
        let mut other = Machine::beside(self.stored.clone(), clock);
        let dies = Stop {
            call: self.freeze.other_calls,
            kind: StopKind::DieAfter,
        };
        other.process(&case, (self.flow, case.version(0)), self.work, Some(dies));
        if let Some((id, records)) = stored(&other) {
            for (id, records) in parts(&other, id).into_iter().chain([(id, records)]) {
                laws::stored(id, &records);
            }
        }
        (world(std::mem::take), other.now())
    }
}
