//! A model with a budget for each owner.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use async_trait::async_trait;
use flow_runtime::Context;

use crate::about::AboutModel;
use crate::embedding::{Embedded, Embedding};
use crate::error::ModelError;
use crate::limits::entries;
use crate::limits::metered::{self, Call, Meter};
use crate::model::{Model, Reply, ReplyStream, Request};
use crate::spending::account::{Account, Day};
use crate::spending::budget::Budget;
use crate::spending::error::BudgetError;
use crate::spending::ledger::Ledger;
use crate::spending::prices::Prices;

/// A model with a daily budget for each owner, such as a user or a team. A [`Ledger`] counts the
/// spending of all runs of all processes.
///
/// It counts and refuses like a [`Budgeted`](crate::Budgeted), so give requests
/// [`max_tokens`](Request::max_tokens): without them, concurrent requests can all exceed a limit of
/// tokens. A request belongs to the day on which it begins. An [`Embedding`] is charged too.
///
/// # After a crash
/// Each request of a step of a durable run has an entry. Its id consists of the id of the step, the
/// number of the attempt, the number of the `Charged` in it, and the number of the request: see
/// [`step`](Charged::step). A step that runs again after a crash writes the same entries again, so
/// it counts once, as in the journal. Its earlier use counts even if it then fails. An entry
/// without an answer stays reserved until then, or until the [`Ledger`] releases it.
///
/// A step that runs again on a later day counts on both days.
///
/// # Examples
/// ```
/// use std::sync::Arc;
///
/// use flow_agents::{
///     Budget, Charged, Chat, Ledger, MemoryLedger, Message, Messages, Model, ModelError, Request,
///     ScriptedModel,
/// };
/// use flow_runtime::prelude::*;
///
/// struct Answer {
///     model: Arc<dyn Model>,
///     ledger: Arc<dyn Ledger>,
/// }
///
/// #[node(writes = answer)]
/// impl Answer {
///     async fn exec(&self, cx: &Context, user: &str, text: &str) -> Result<String, ModelError> {
///         let budget = Budget::new().calls(1); // a day
///         let model = Charged::new(&self.model, Arc::clone(&self.ledger), user, budget).step(cx);
///         let request = Request::new(&Messages::from_iter([Message::user(text)]));
///         Ok(model.complete(&request).await?.content)
///     }
/// }
///
/// flow! {
///     Ask(user: String, text: String) -> (answer: String) {
///         node answer: Answer;
///         start >> answer >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
/// let model = Arc::new(ScriptedModel::new().text("It rains.").text("Hello."));
/// let ledger = Arc::new(MemoryLedger::new());
/// let flow = Ask::builder().answer(Answer { model, ledger }).build();
/// let ask = |user: &str| AskInput { user: user.to_owned(), text: "Well?".to_owned() };
/// flow.run(ask("ann")).await?;
/// flow.run(ask("bob")).await?;
/// let error = format!("{:#}", flow.run(ask("ann")).await.unwrap_err());
/// assert!(error.contains(r#"the owner "ann" may spend no more on day"#), "{error}");
/// # Ok(()) }
/// ```
pub struct Charged<M> {
    model: M,
    ledger: Arc<dyn Ledger>,
    owner: String,
    budget: Budget,
    prices: Arc<Prices>,
    entries: String,
    requests: AtomicU64,
    clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

impl<M> Charged<M> {
    /// Wraps a model or embedding that this owner pays for, with this budget for each day in UTC.
    pub fn new(
        model: M,
        ledger: Arc<dyn Ledger>,
        owner: impl Into<String>,
        budget: Budget,
    ) -> Charged<M> {
        Charged {
            model,
            ledger,
            owner: owner.into(),
            budget,
            prices: Arc::default(),
            entries: format!("{:032x}", fastrand::u128(..)),
            requests: AtomicU64::new(0),
            clock: Arc::new(SystemTime::now),
        }
    }

    /// Sets the prices of models. A model without a price costs nothing, unless the budget limits
    /// money.
    pub fn prices(mut self, prices: impl Into<Arc<Prices>>) -> Charged<M> {
        self.prices = prices.into();
        self
    }

    /// Assigns the requests to the step of this context. Any number of `Charged` may belong to one
    /// step: each request counts. A node that makes several has to make them in the same order each
    /// time. If only its fallback runs again after a crash, its entries can replace those of the
    /// last attempt.
    ///
    /// A step that runs again after a crash counts again without this call, in a run without a
    /// store, and in work that continues after its run.
    pub fn step(mut self, cx: &Context) -> Charged<M> {
        if let Some(id) = entries::next_id(cx) {
            self.entries = id;
        }
        self
    }

    /// Sets the clock. The default is the system clock.
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Charged<M> {
        self.clock = Arc::new(clock);
        self
    }

    async fn begin(&self, model: AboutModel, answer: Option<u32>) -> Result<Call, ModelError> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let account = Account::new(&*self.owner, Day::utc((self.clock)()));
        let meter = Meter {
            ledger: Arc::clone(&self.ledger),
            account: account.clone(),
            entry: format!("{}#{number}", self.entries),
            budget: self.budget,
        };
        let call = meter
            .begin(model, &self.prices, answer.unwrap_or_default())
            .await;
        Ok(call.map_err(|error| match error {
            BudgetError::Over(source) => BudgetError::OwnerOver { account, source },
            other => other,
        })?)
    }
}

impl<M: fmt::Debug> fmt::Debug for Charged<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Charged")
            .field("model", &self.model)
            .field("owner", &self.owner)
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl<M: Model> Model for Charged<M> {
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
impl<M: Embedding> Embedding for Charged<M> {
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
