//! Questions to people and their answers, as the journal records them.

use std::time::Duration;

use flow_runtime::engine::{ExternalType, Failed, Failure, Place, Visit};
use flow_runtime::{FlowError, NodeError, TimedOut};
use flow_store::{PauseRow, PauseState, RecordKind, Settlement, Token};
use serde_json::Value;
use uuid::Uuid;

use crate::clock::millis;
use crate::engine::Durable;
use crate::entry::{Answered, Asked};
use crate::journal::{AskingGuard, NewRecord};
use crate::replay::Outcome;

/// A question to ask.
struct ToAsk {
    question: ExternalType,
    prompt: String,
    expires_ms: Option<u64>,
    refused: Option<String>,
}

impl Durable {
    /// Asks a person, and records the question and the answer.
    pub(super) async fn ask_and_record(
        &self,
        visit: Visit<'_>,
        question: ExternalType,
        prompt: String,
    ) -> Result<Value, Failed> {
        let place = visit.frame().place();
        if let Some(Outcome::Answer(recorded)) = self.recorded_answer(&place).await {
            let answered = self.payload(&place, &recorded).answer();
            let answered = self.or_halt(answered).await;
            return self.answered(visit, &place, question, answered).await;
        }
        let answered = self.settled(visit, &place, question, prompt).await;
        let payload = match serde_json::to_string(&answered) {
            Ok(payload) => payload,
            Err(error) => return self.halt_unstorable(&place, error.to_string()).await,
        };
        // The run continues at once, as a replay does. The next step waits until the answer is
        // stored.
        self.journal.add_urgent(NewRecord {
            kind: RecordKind::Resumed,
            place: &place,
            attempt: 0,
            payload,
        });
        self.answered(visit, &place, question, answered).await
    }

    /// Asks until an answer of the type arrives or the question expires. A process without the flow
    /// checks answers only by their schema. If such an answer is not of the type, the question is
    /// asked again, with the same expiry.
    async fn settled(
        &self,
        visit: Visit<'_>,
        place: &Place,
        question: ExternalType,
        prompt: String,
    ) -> Answered {
        let (mut asking, mut expires_ms) = match self.journal.open_question(place) {
            Some(row) => (self.journal.asking(row.token), row.expires_ms),
            None => {
                self.journal.live().await;
                let to_ask = ToAsk {
                    question,
                    prompt: prompt.clone(),
                    expires_ms: visit.timeout().map(|timeout| self.after(timeout)),
                    refused: None,
                };
                self.ask(place, to_ask).await
            }
        };
        loop {
            let settlement = asking.settled(expires_ms).await;
            self.journal.live().await;
            let Settlement::Answer(text) = settlement else {
                return Answered {
                    answer: None,
                    timed_out: true,
                };
            };
            let answer: Value = match serde_json::from_str(&text) {
                Ok(answer) => answer,
                Err(error) => {
                    let reason = format!("the stored answer is not JSON: {error}");
                    self.journal.halt(self.unreadable_at(place, reason)).await
                }
            };
            let reason = match question.accept(answer) {
                Ok(answer) => {
                    return Answered {
                        answer: Some(answer),
                        timed_out: false,
                    };
                }
                Err(reason) => reason,
            };
            drop(asking);
            let to_ask = ToAsk {
                question,
                prompt: prompt.clone(),
                expires_ms,
                refused: Some(reason),
            };
            (asking, expires_ms) = self.ask(place, to_ask).await;
        }
    }

    /// The time after this duration, in milliseconds since 1970 (UTC).
    fn after(&self, timeout: Duration) -> u64 {
        let timeout = millis(timeout);
        self.journal.now_ms().saturating_add(timeout)
    }

    /// The recorded answer. `None` for an open question, which does not wait for the rest of the
    /// replay.
    async fn recorded_answer(&self, place: &Place) -> Option<Outcome> {
        match self.journal.replaying(|replay| replay.outcome(place)) {
            Some(_) => self.journal.recorded(place).await,
            None => None,
        }
    }

    /// Asks a question: records it, and returns when it is stored. The returned time is the expiry
    /// of the question.
    async fn ask(&self, place: &Place, to_ask: ToAsk) -> (AskingGuard<'_>, Option<u64>) {
        let ToAsk {
            question,
            prompt,
            expires_ms,
            refused,
        } = to_ask;
        let schema = question.schema();
        let row = PauseRow {
            token: Token::from(Uuid::new_v4()),
            execution: self.journal.execution(),
            path: place.path.clone(),
            step: place.step.clone(),
            prompt,
            expected: question.name().to_owned(),
            schema: schema.as_ref().map(Value::to_string),
            created_ms: self.journal.now_ms(),
            expires_ms,
            state: PauseState::Open,
        };
        let asked = Asked {
            prompt: row.prompt.clone(),
            expected: row.expected.clone(),
            expires_ms,
            schema,
            refused,
        };
        let payload = match serde_json::to_string(&asked) {
            Ok(payload) => payload,
            Err(error) => return self.halt_unstorable(place, error.to_string()).await,
        };
        let asking = self.journal.asking(row.token);
        self.journal.add_question(row);
        self.journal
            .write(NewRecord {
                kind: RecordKind::Paused,
                place,
                attempt: 0,
                payload,
            })
            .await;
        (asking, expires_ms)
    }

    /// The value of an answer.
    async fn answered(
        &self,
        visit: Visit<'_>,
        place: &Place,
        question: ExternalType,
        answered: Answered,
    ) -> Result<Value, Failed> {
        if answered.timed_out {
            // The timeout is missing only if the flow of the program has changed. The length of the
            // old one is not known.
            let after = visit.timeout().unwrap_or_default();
            let failure = Failure::Deadline(TimedOut { after });
            let error = NodeError::new(place.path.clone(), 1, failure);
            return Err(Box::new(FlowError::Node(error)));
        }
        // `null` is an answer as well, and is read as `None`.
        let answer = answered.answer.unwrap_or_default();
        match question.check(&answer) {
            Ok(()) => Ok(answer),
            Err(error) => {
                let reason = format!(
                    "the recorded answer is not a `{}`: {error}",
                    question.name()
                );
                self.journal.halt(self.unreadable_at(place, reason)).await
            }
        }
    }
}
