//! Visits that are never done, and the races around them.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;

use crate::engine::RaceBranch;
use crate::frame::Frame;

/// The error that a script returns for a visit that is never done: nobody answers, the signal does
/// not come, the node never returns.
///
/// - In a branch of a [race](crate::language#races), another branch is the first one.
/// - If the node has a `timeout`, its time is over: a question, a signal and a node that sets its own
///   `timeout` [time out](crate::NodeError::is_timeout), without waiting.
/// - If nothing can end the visit, the test fails.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "stored")] mod with_the_feature {
/// use flow_runtime::prelude::*;
/// use flow_runtime::testing::{Never, Scripted};
/// use serde::{Deserialize, Serialize};
///
/// #[node(human = "Deploy {version}?", timeout = "7d")]
/// #[derive(Serialize, Deserialize)]
/// enum Approval {
///     Approved,
///     Refused,
/// }
///
/// flow! {
///     Release(version: u32) -> () {
///         start >> Approval;
///         Approval - "approved" >> end;
///         Approval - "refused"  >> end("kept");
///         Approval - "timeout"  >> end("forgotten");
///     }
/// }
///
/// # pub async fn run() {
/// let scripted = Scripted::new().try_node::<Approval, _>(|_| Err(Never));
/// let run = scripted.run(&Release::new(), ReleaseInput { version: 7 }).await;
/// assert_eq!(run.result().unwrap().end, ReleaseEnd::Forgotten);
/// # }
/// # }
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// # #[cfg(feature = "stored")] with_the_feature::run().await;
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Never;

impl fmt::Display for Never {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("never done")
    }
}

impl Error for Never {}

/// The races of a run, by their steps.
#[derive(Debug, Default)]
pub(super) struct Races(HashMap<String, Race>);

#[derive(Debug)]
struct Race {
    /// The nodes of each branch that may still be done.
    branches: Vec<Vec<u16>>,
    /// True if a script says which branch is the first one, so that no other one runs.
    is_decided: bool,
}

/// What else can end a visit.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// Another branch of a race.
    Branch,
    /// Nothing: no branch of the race at this path is ever done.
    NoBranch(String),
    /// A failure in another branch of a fork, or at another item of a loop.
    Failure,
    Nothing,
}

impl Races {
    /// Notes that a race begins, and whether a script decides it.
    pub(super) fn begin(
        &mut self,
        race: &Frame<'_>,
        branches: &[RaceBranch<'_>],
        is_decided: bool,
    ) {
        let branches = branches.iter().map(|branch| branch.nodes.to_vec());
        let begun = Race {
            branches: branches.collect(),
            is_decided,
        };
        self.0.insert(race.place().step, begun);
    }

    /// Notes that a visit is never done, and with it the branch of a race.
    pub(super) fn never(&mut self, visit: &Frame<'_>) -> Beside {
        let mut beside = match visit.item_index() {
            Some(_) => Beside::Failure,
            None => Beside::Nothing,
        };
        let mut frame = visit;
        while let Some(around) = frame.around() {
            if frame.is_branch() {
                match self.0.get_mut(&around.place().step) {
                    None => beside = Beside::Failure,
                    Some(race) if race.is_decided => {}
                    Some(race) => {
                        race.branches.retain(|nodes| !is_at(frame, nodes));
                        return if race.branches.is_empty() {
                            Beside::NoBranch(around.path().to_string())
                        } else {
                            Beside::Branch
                        };
                    }
                }
            }
            frame = around;
        }
        beside
    }
}

/// Returns true if a branch is at one of these nodes.
fn is_at(branch: &Frame<'_>, nodes: &[u16]) -> bool {
    let here = branch.position();
    nodes.iter().any(|node| u32::from(*node) + 1 == here)
}
