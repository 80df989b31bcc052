//! Signals, as the journal records them.

use flow_runtime::engine::{ExternalType, Failed, Failure, Place, Visit};
use flow_runtime::{FlowError, NodeError, TimedOut};
use flow_store::RecordKind;
use serde_json::Value;

use crate::clock::millis;
use crate::engine::Durable;
use crate::entry::{Awaited, Received};
use crate::journal::{Found, NewRecord};
use crate::replay::Outcome;

impl Durable {
    /// Waits for a signal of this name and takes it. Records both.
    pub(super) async fn receive_and_record(
        &self,
        visit: Visit<'_>,
        name: &str,
        signal: ExternalType,
    ) -> Result<Value, Failed> {
        let place = visit.frame().place();
        if self
            .journal
            .replaying(|replay| replay.outcome(&place))
            .is_some()
            && let Some(Outcome::Signal(recorded)) = self.journal.recorded(&place).await
        {
            let received = self.payload(&place, &recorded).received();
            let received = self.or_halt(received).await;
            return self.received(visit, &place, signal, received).await;
        }
        self.journal.live().await;
        if self.captured.is_some() {
            // A look into the past ends here: no signal had been taken then.
            return std::future::pending().await;
        }
        let awaited = self.awaited(visit, &place, name).await;
        let receiving = self.journal.receiving(name, awaited.expires_ms);
        let received = match receiving.found().await {
            Found::TimedOut => Received {
                body: None,
                number: None,
                timed_out: true,
            },
            Found::Signal(row) => {
                let body: Value = match serde_json::from_str(&row.payload) {
                    Ok(body) => body,
                    Err(error) => {
                        let reason = format!("the stored signal is not JSON: {error}");
                        self.journal.halt(self.unreadable_at(&place, reason)).await
                    }
                };
                if let Err(error) = signal.check(&body) {
                    let reason = format!("the stored signal is not a `{}`: {error}", signal.name());
                    return self.journal.halt(self.unreadable_at(&place, reason)).await;
                }
                Received {
                    body: Some(body),
                    number: Some(row.number),
                    timed_out: false,
                }
            }
        };
        let payload = match serde_json::to_string(&received) {
            Ok(payload) => payload,
            Err(error) => return self.halt_unstorable(&place, error.to_string()).await,
        };
        // The next step waits until it is stored.
        receiving.record(NewRecord {
            kind: RecordKind::Received,
            place: &place,
            attempt: 0,
            payload,
        });
        self.received(visit, &place, signal, received).await
    }

    /// The wait for a signal, as an earlier run recorded it or as it is recorded now.
    async fn awaited(&self, visit: Visit<'_>, place: &Place, name: &str) -> Awaited {
        let recorded = self
            .journal
            .replaying(|replay| replay.awaited_signal(place));
        if let Some(awaited) = recorded.filter(|awaited| awaited.signal == name) {
            return awaited;
        }
        let expires = |timeout| self.journal.now_ms().saturating_add(millis(timeout));
        let awaited = Awaited {
            signal: name.to_owned(),
            expires_ms: visit.timeout().map(expires),
        };
        match serde_json::to_string(&awaited) {
            Ok(payload) => {
                self.journal.add(NewRecord {
                    kind: RecordKind::Awaiting,
                    place,
                    attempt: 0,
                    payload,
                });
                awaited
            }
            Err(error) => self.halt_unstorable(place, error.to_string()).await,
        }
    }

    /// The signal that was taken.
    async fn received(
        &self,
        visit: Visit<'_>,
        place: &Place,
        signal: ExternalType,
        received: Received,
    ) -> Result<Value, Failed> {
        if received.timed_out {
            // The timeout is missing only if the flow of the program has changed. The length of the
            // old one is not known.
            let after = visit.timeout().unwrap_or_default();
            let failure = Failure::Deadline(TimedOut { after });
            let error = NodeError::new(place.path.clone(), 1, failure);
            return Err(Box::new(FlowError::Node(error)));
        }
        let body = received.body.unwrap_or_default();
        match signal.check(&body) {
            Ok(()) => Ok(body),
            Err(error) => {
                let reason = format!("the recorded signal is not a `{}`: {error}", signal.name());
                self.journal.halt(self.unreadable_at(place, reason)).await
            }
        }
    }
}
