//! A request that is counted in a ledger: reserved before it is made, and settled after it.
//!
//! A request that is dropped, or whose answer is incomplete, stays reserved until the ledger
//! releases it: it was made, but its use is unknown.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use tokio::time::Instant;

use crate::about::AboutModel;
use crate::embedding::{Embedded, Embedding};
use crate::error::ModelError;
use crate::log::warning;
use crate::model::{Chunk, Model, Reply, ReplyStream, Request, Stop};
use crate::spending::account::Account;
use crate::spending::budget::{Budget, Spent};
use crate::spending::error::BudgetError;
use crate::spending::ledger::Ledger;
use crate::spending::money::Money;
use crate::spending::prices::{Price, Prices};
use crate::usage::Usage;

/// The place where a request is counted.
pub(crate) struct Meter {
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) account: Account,
    pub(crate) entry: String,
    pub(crate) budget: Budget,
}

impl Meter {
    /// Reserves a request to a model, and the tokens that its answer may have.
    pub(crate) async fn begin(
        self,
        model: AboutModel,
        prices: &Prices,
        answer: u32,
    ) -> Result<Call, BudgetError> {
        let price = match prices.price(&model) {
            Ok(price) => Some(price),
            Err(unknown) if self.budget.limits_money() => return Err(unknown.into()),
            Err(_) => None,
        };
        let mut expected = Spent::default();
        let usage = Usage::new(0, answer.into());
        expected.add(usage, cost(price, usage));
        let (account, entry) = (&self.account, &self.entry);
        let reserved = self.ledger.reserve(account, entry, expected, &self.budget);
        reserved.await?;
        Ok(Call {
            meter: self,
            model,
            price,
            reserved: usage,
            has_begun: false,
            time: Duration::ZERO,
        })
    }
}

fn cost(price: Option<Price>, usage: Usage) -> Money {
    price.map_or(Money::ZERO, |price| price.of(usage))
}

/// A reserved request.
pub(crate) struct Call {
    meter: Meter,
    model: AboutModel,
    price: Option<Price>,
    /// The tokens that were reserved.
    reserved: Usage,
    /// True if a part of an answer has arrived.
    has_begun: bool,
    /// The time spent waiting for the model.
    time: Duration,
}

impl Call {
    /// Waits for the model.
    async fn wait<T>(&mut self, answer: impl Future<Output = T>) -> T {
        let began = Instant::now();
        let answer = answer.await;
        self.time = self.time.saturating_add(began.elapsed());
        answer
    }

    /// Counts an answered request. A withheld answer is reported as such, even if it does not
    /// report its use.
    async fn answered(self, usage: Usage, stop: &Stop) -> Result<(), BudgetError> {
        let is_unknown = usage == Usage::default() && self.meter.budget.limits_usage();
        let used = if is_unknown { self.reserved } else { usage };
        self.settle(used).await?;
        if is_unknown && *stop != Stop::Filtered {
            return Err(BudgetError::NoUsage { model: self.model });
        }
        Ok(())
    }

    /// Counts a failed request as far as its use is known. The caller gets the error of the
    /// request.
    async fn failed(self, error: &ModelError) {
        let error = error.last();
        if was_refused(error) {
            return logged(self.settle_as(Spent::default()).await);
        }
        let usage = match error {
            ModelError::TooLong { reply }
            | ModelError::Filtered { reply }
            | ModelError::Stopped { reply } => reply.usage,
            ModelError::CutOff { .. }
            | ModelError::Malformed { .. }
            | ModelError::TooLarge { .. } => self.reserved,
            _ if self.has_begun => self.reserved,
            _ => Usage::default(),
        };
        logged(self.settle(usage).await);
    }

    async fn settle(&self, usage: Usage) -> Result<(), BudgetError> {
        let mut spent = Spent::default();
        spent.add(usage, cost(self.price, usage));
        spent.time = self.time;
        self.settle_as(spent).await
    }

    async fn settle_as(&self, spent: Spent) -> Result<(), BudgetError> {
        let Meter {
            ledger,
            account,
            entry,
            ..
        } = &self.meter;
        ledger.settle(account, entry, spent).await
    }
}

/// Returns true if another budget between this one and the model refused the request.
fn was_refused(error: &ModelError) -> bool {
    matches!(
        error,
        ModelError::Budget(
            BudgetError::Over(_) | BudgetError::OwnerOver { .. } | BudgetError::NoPrice(_)
        )
    )
}

fn logged(counted: Result<(), BudgetError>) {
    if let Err(error) = counted {
        let error = &error as &(dyn Error + 'static);
        warning!("a request that failed could not be counted", error = error);
    }
}

/// Requests a whole answer and counts it.
pub(crate) async fn complete(
    mut call: Call,
    model: &impl Model,
    request: &Request,
) -> Result<Reply, ModelError> {
    match call.wait(model.complete(request)).await {
        Ok(reply) => {
            call.answered(reply.usage, &reply.stop).await?;
            Ok(reply)
        }
        Err(error) => {
            call.failed(&error).await;
            Err(error)
        }
    }
}

/// Requests vectors and counts them.
pub(crate) async fn embed(
    mut call: Call,
    model: &impl Embedding,
    texts: &[String],
) -> Result<Embedded, ModelError> {
    match call.wait(model.embed(texts)).await {
        Ok(embedded) => {
            call.answered(embedded.usage, &Stop::Done).await?;
            Ok(embedded)
        }
        Err(error) => {
            call.failed(&error).await;
            Err(error)
        }
    }
}

/// Requests a stream and counts it when it has ended.
pub(crate) async fn stream(
    mut call: Call,
    model: &impl Model,
    request: &Request,
) -> Result<ReplyStream, ModelError> {
    match call.wait(model.stream(request)).await {
        Ok(rest) => Ok(stream::unfold(Some((rest, call)), next_counted).boxed()),
        Err(error) => {
            call.failed(&error).await;
            Err(error)
        }
    }
}

type Counted = Option<(ReplyStream, Call)>;

/// The next part, and the rest unless that was the last part.
async fn next_counted(rest: Counted) -> Option<(Result<Chunk, ModelError>, Counted)> {
    let (mut rest, mut call) = rest?;
    match call.wait(rest.next()).await {
        Some(Ok(Chunk::End { usage, stop })) => {
            let counted = call.answered(usage, &stop).await;
            let end = counted.map(|()| Chunk::end(usage, stop));
            Some((end.map_err(ModelError::from), None))
        }
        Some(Ok(chunk)) => {
            call.has_begun = true;
            Some((Ok(chunk), Some((rest, call))))
        }
        Some(Err(error)) => {
            call.failed(&error).await;
            Some((Err(error), None))
        }
        None => {
            if let Err(error) = call.settle(call.reserved).await {
                return Some((Err(error.into()), None));
            }
            None
        }
    }
}
