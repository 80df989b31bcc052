//! Goes on with what other processes have left.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use flow_store::{Damaged, ExecutionId, Store};

use super::{Inner, PAGE, lock};
use crate::error::RuntimeError;

/// What [`Runtime::recover`](crate::Runtime::recover) came to.
#[derive(Debug, Default)]
pub struct Recovered {
    /// The executions that go on.
    pub resumed: Vec<ExecutionId>,
    /// Those that cannot, and why. They are as they were.
    pub refused: Vec<(ExecutionId, RuntimeError)>,
    /// What cannot be read so far that it could be said which execution it is.
    pub damaged: Vec<Damaged>,
}

impl Inner {
    /// Goes on with what is due. What this process could not go on with for another reason than the
    /// store's is tried again only if it is asked to.
    pub(crate) async fn recover(self: &Arc<Self>, asked: bool) -> Result<Recovered, RuntimeError> {
        self.release().await;
        let mut recovered = Recovered::default();
        let mut watched = HashMap::new();
        let mut after = None;
        loop {
            let due = self.store.due(self.now_ms(), after, PAGE).await?;
            let mut last = None;
            for due in due {
                let (id, damaged) = match due {
                    Ok(id) => (id, None),
                    Err(damaged) => match damaged.execution {
                        Some(id) => (id, Some(damaged)),
                        None => {
                            // It is on each page, if it is before none of the others.
                            if !recovered.damaged.contains(&damaged) {
                                recovered.damaged.push(damaged);
                            }
                            continue;
                        }
                    },
                };
                last = last.max(Some(id));
                let hopeless = lock(&self.halted)
                    .get(&id)
                    .is_some_and(|error| match error {
                        RuntimeError::Store { .. } => error.damaged().is_some(),
                        RuntimeError::TakenOver(_) => false,
                        _ => true,
                    });
                if hopeless && !asked {
                    continue;
                }
                let launched = match damaged {
                    None => self.launch_or_watch(id, &mut watched).await,
                    Some(damaged) => Err(damaged.into()),
                };
                match launched {
                    Ok(true) => recovered.resumed.push(id),
                    Ok(false) => {}
                    Err(error) => {
                        lock(&self.halted).insert(id, error.clone());
                        recovered.refused.push((id, error));
                    }
                }
            }
            if last.is_none() {
                *lock(&self.watched) = watched;
                return Ok(recovered);
            }
            after = last;
        }
    }

    pub(crate) fn keep_recovering(self: &Arc<Self>) {
        let (inner, every) = (Arc::downgrade(self), self.options.lease / 3);
        let gone = self.gone.0.clone();
        self.recovering.spawn(async move {
            while tokio::time::timeout(every, gone.cancelled()).await.is_err() {
                let Some(inner) = Weak::upgrade(&inner) else {
                    return;
                };
                // What fails now is tried again the next time.
                let _ = inner.recover(false).await;
            }
        });
    }
}
