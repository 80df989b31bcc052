//! A model or embedding with a budget.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::about::AboutModel;
use crate::embedding::{Embedded, Embedding};
use crate::error::ModelError;
use crate::limits::metered::{self, Call, Meter};
use crate::model::{Model, Reply, ReplyStream, Request};
use crate::spending::account::Account;
use crate::spending::budget::{Budget, Spent};
use crate::spending::error::BudgetError;
use crate::spending::ledger::{GIVEN_BACK_AFTER, Ledger, Reservation};
use crate::spending::prices::Prices;

/// A model with a [`Budget`], which counts its use.
///
/// In a node, it gives a run its budget: the flow keeps [`Spent`] in its state, and the node
/// continues from the last value. In a durable run, the journal then has the spending with the
/// outcome of the step, exactly once. A failed attempt writes no state, so its use is not counted
/// there. A node that has to count it turns the failure into an action.
///
/// A shared instance, such as in a [`Chat`](crate::Chat), has the budget of a process.
///
/// All requests count, even those that fail, except those that another budget refuses. While a
/// request is under way, its [`max_tokens`](Request::max_tokens) count as used, so that concurrent
/// requests do not spend the same rest. A dropped request stays counted like that for an hour, and
/// is then released. A request stays counted for good if its answer is cut off, cannot be read, or
/// does not report a use that the budget limits. Without `max_tokens`, such a request is one call
/// without tokens, and concurrent requests can all exceed a limit of tokens: see [`Budget`]. A
/// request that the provider refuses, or that does not reach it, is one call without tokens.
///
/// Around a [`Retrying`](crate::Retrying), all attempts are one call; inside it, each is one.
///
/// An [`Embedding`] is counted in the same way: as one call for all texts, even if the provider
/// gets them in several requests. It has its own budget: for one budget over everything, pass the
/// spending on with [`after`](Budgeted::after).
///
/// # Errors
/// A request returns [`ModelError::Budget`]:
///
/// - if a limit is exhausted;
/// - if the budget limits money, and the [`prices`](Budgeted::prices) do not have the model;
/// - if the budget limits tokens or money, and the answer does not report its use.
///
/// # Examples
/// ```
/// use std::sync::Arc;
///
/// use flow_agents::{AskError, Budget, Budgeted, Message, Messages, Model, ScriptedModel, Spent, ask};
/// use flow_runtime::prelude::*;
///
/// struct Count {
///     model: Arc<dyn Model>,
/// }
///
/// #[derive(Action)]
/// enum Counted {
///     Done { count: u64 },
///     Budget { why: String },
/// }
///
/// #[node(writes = spent, actions = Counted)]
/// impl Count {
///     async fn exec(&self, spent: Spent, text: &str) -> Result<(Spent, Counted), AskError> {
///         let model = Budgeted::new(&self.model, Budget::new().tokens(1000)).after(spent);
///         let messages = Messages::from_iter([Message::user(format!("How many birds? {text}"))]);
///         match ask::<u64>(&model, &messages).await {
///             Ok(count) => Ok((model.spent(), Counted::Done { count })),
///             Err(error) => match error.over_budget() {
///                 Some(over) => Ok((model.spent(), Counted::Budget { why: over.to_string() })),
///                 None => Err(error),
///             },
///         }
///     }
/// }
///
/// flow! {
///     Birds(text: String, spent: Spent) -> (count: Option<u64>, why: Option<String>, spent: Spent) {
///         node count: Count;
///         start >> count;
///         count - "done" >> end;
///         count - "budget" >> end("budget");
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
/// let script = ScriptedModel::new().text("three").usage(700, 5).text("3").usage(800, 5);
/// let flow = Birds::builder().count(Count { model: Arc::new(script) }).build();
/// let input = BirdsInput::builder().text("Tits".into()).spent(Spent::default()).build();
/// let output = flow.run(input).await?;
/// assert_eq!(output.count, Some(3));
/// assert_eq!((output.spent.calls, output.spent.usage.total()), (2, 1510));
///
/// let input = BirdsInput::builder().text("Owls".into()).spent(output.spent).build();
/// let output = flow.run(input).await?;
/// assert!(output.why.is_some_and(|why| why.starts_with("nothing is left of a budget (tokens: 1000)")));
/// # Ok(()) }
/// ```
pub struct Budgeted<M> {
    model: M,
    budget: Budget,
    prices: Arc<Prices>,
    count: Arc<Count>,
    requests: AtomicU64,
}

impl<M> Budgeted<M> {
    /// Wraps a model or embedding with this budget, without prices.
    pub fn new(model: M, budget: Budget) -> Budgeted<M> {
        Budgeted {
            model,
            budget,
            prices: Arc::default(),
            count: Arc::default(),
            requests: AtomicU64::new(0),
        }
    }

    /// Sets the prices of models. A model without a price costs nothing, unless the budget limits
    /// money.
    pub fn prices(mut self, prices: impl Into<Arc<Prices>>) -> Budgeted<M> {
        self.prices = prices.into();
        self
    }

    /// Adds earlier spending, which counts.
    pub fn after(self, spent: Spent) -> Budgeted<M> {
        self.count.lock().settled += spent;
        self
    }

    /// The spending, earlier and since, including what unanswered requests may use.
    pub fn spent(&self) -> Spent {
        self.count.lock().sum()
    }

    async fn begin(&self, model: AboutModel, answer: Option<u32>) -> Result<Call, ModelError> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let meter = Meter {
            ledger: Arc::clone(&self.count) as _,
            account: Account::default(),
            entry: number.to_string(),
            budget: self.budget,
        };
        let call = meter.begin(model, &self.prices, answer.unwrap_or_default());
        Ok(call.await?)
    }
}

/// A ledger of one account.
#[derive(Default)]
struct Count(Mutex<Counted>);

#[derive(Default)]
struct Counted {
    settled: Spent,
    /// The possible use of unanswered requests.
    reserved: BTreeMap<String, Reservation>,
}

impl Counted {
    fn sum(&self) -> Spent {
        let mut sum = self.settled;
        let reserved = self.reserved.values().copied();
        sum += reserved.filter_map(Reservation::counted).sum();
        sum
    }
}

impl Count {
    /// Ignores poisoning: a test that panicked reports it itself.
    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Ledger for Count {
    async fn reserve(
        &self,
        _: &Account,
        entry: &str,
        expected: Spent,
        budget: &Budget,
    ) -> Result<(), BudgetError> {
        let mut counted = self.lock();
        budget.check(&counted.sum())?;
        let reserved = &mut counted.reserved;
        reserved.retain(|_, reserved| reserved.counted().is_some());
        let reserved = Reservation::new(expected, GIVEN_BACK_AFTER);
        counted.reserved.insert(entry.to_owned(), reserved);
        Ok(())
    }

    async fn settle(&self, _: &Account, entry: &str, spent: Spent) -> Result<(), BudgetError> {
        let mut counted = self.lock();
        counted.reserved.remove(entry);
        counted.settled += spent;
        Ok(())
    }

    async fn spent(&self, _: &Account) -> Result<Spent, BudgetError> {
        Ok(self.lock().sum())
    }
}

impl<M: fmt::Debug> fmt::Debug for Budgeted<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budgeted")
            .field("model", &self.model)
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl<M: Model> Model for Budgeted<M> {
    fn about(&self) -> AboutModel {
        self.model.about()
    }

    async fn complete(&self, request: &Request) -> Result<Reply, ModelError> {
        let call = self.begin(self.model.about(), request.max_tokens).await?;
        metered::complete(call, &self.model, request).await
    }

    async fn stream(&self, request: &Request) -> Result<ReplyStream, ModelError> {
        let call = self.begin(self.model.about(), request.max_tokens).await?;
        metered::stream(call, &self.model, request).await
    }
}

#[async_trait]
impl<M: Embedding> Embedding for Budgeted<M> {
    fn about(&self) -> AboutModel {
        self.model.about()
    }

    async fn embed(&self, texts: &[String]) -> Result<Embedded, ModelError> {
        if texts.is_empty() {
            return self.model.embed(texts).await; // no request
        }
        let call = self.begin(self.model.about(), None).await?;
        metered::embed(call, &self.model, texts).await
    }
}
