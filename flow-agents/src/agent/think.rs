//! The node of an agent that asks the model.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flow_runtime::prelude::*;
use tokio::time::Instant;

use crate::asked::asked;
use crate::error::ModelError;
use crate::limits::budgeted::Budgeted;
use crate::message::{Message, ToolCall};
use crate::messages::{Messages, Placement};
use crate::model::{Model, Request, ToolDefinition};
use crate::spending::budget::{Budget, Spent};
use crate::spending::error::BudgetError;
use crate::spending::prices::Prices;
use crate::tools::Tools;

/// The default of [`Think::turns`].
const TURNS: u32 = 10;

/// The longest pause that a provider may request.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A node that asks a model what to do next: call tools, or finish.
///
/// It reads `messages`, `turns` and `spent`. It adds the complete answer to `messages`, and writes
/// `turns` and `spent` with this turn counted. Its actions are those of [`Thought`].
///
/// The text of the answer is [emitted](Context::emit) as it arrives. With the feature `tracing`,
/// each request is a span, as in a [`Chat`](crate::Chat).
///
/// # Retries
/// A turn is retried if the model is overloaded, limits the rate, or breaks off its answer: up to 4
/// attempts, with partly random pauses of 1 s, 2 s and 4 s. Only complete turns call tools, so no
/// tool is called again. If the provider requests a longer pause, no request of this `Think` is
/// made before it ends. If that is more than a minute, its error is returned immediately. A
/// `with retry(…)` where a flow declares the node overrides this. A [`Retrying`](crate::Retrying)
/// model makes its own retries until an answer begins: an error that it gives up on is not retried.
///
/// The text of a turn that broke off is emitted anew, after the event
/// [`EventKind::AttemptFailed`](flow_runtime::EventKind::AttemptFailed), as with a
/// [`Chat`](crate::Chat). A durable run records each failed attempt, and continues with the next
/// one after a crash, which itself does not count.
#[derive(Clone)]
pub struct Think {
    model: Arc<dyn Model>,
    tools: Arc<[ToolDefinition]>,
    system: String,
    turns: u32,
    budget: Budget,
    prices: Arc<Prices>,
    temperature: Option<f64>,
    max_tokens: Option<u32>,
    /// The time until which the provider wants no requests.
    pause: Arc<Mutex<Option<Instant>>>,
}

/// The next step that a model wants.
#[derive(Debug, Clone, PartialEq, Action, serde::Serialize, serde::Deserialize)]
pub enum Thought {
    /// It is done: this is its answer.
    Done {
        /// The text of the answer.
        answer: String,
    },
    /// It calls tools.
    Call {
        /// The calls, in the order of the model.
        calls: Vec<ToolCall>,
    },
    /// It wants to call tools, but has used up its turns. The calls are not made.
    Limit {
        /// The calls that were not made. Empty if the model may not be asked at all.
        pending: Vec<ToolCall>,
    },
    /// Its answer is incomplete: it reached the limit of tokens, or was withheld.
    Incomplete {
        /// The reason, and how much had arrived.
        reason: String,
    },
    /// It was not asked, because the budget is exhausted.
    Budget {
        /// The exhausted limit, and the spending.
        exhausted: String,
    },
}

impl Think {
    /// Asks this model, which may call these tools, in up to 10 turns.
    pub fn new(model: impl Model + 'static, tools: Tools) -> Think {
        Think {
            model: Arc::new(model),
            tools: tools.definitions().into(),
            system: String::new(),
            turns: TURNS,
            budget: Budget::new(),
            prices: Arc::default(),
            temperature: None,
            max_tokens: None,
            pause: Arc::default(),
        }
    }

    /// Sets the instructions to the model, after the system messages of the conversation. They are
    /// not kept in the messages: they belong to the agent.
    pub fn system(mut self, text: impl Into<String>) -> Think {
        self.system = text.into();
        self
    }

    /// Sets the maximum number of turns. The calls of the last one are not made.
    pub fn turns(mut self, turns: u32) -> Think {
        self.turns = turns;
        self
    }

    /// Sets the budget over all turns, counted as by a [`Budgeted`] model. A failed turn writes
    /// nothing, so its use is not counted in the retry.
    pub fn budget(mut self, budget: Budget) -> Think {
        self.budget = budget;
        self
    }

    /// Sets the prices of models. A model without a price costs nothing, but is not asked if the
    /// budget limits money.
    pub fn prices(mut self, prices: impl Into<Arc<Prices>>) -> Think {
        self.prices = prices.into();
        self
    }

    /// Sets the sampling temperature. By default, the provider decides.
    pub fn temperature(mut self, temperature: f64) -> Think {
        self.temperature = Some(temperature);
        self
    }

    /// Sets the maximum number of tokens of an answer. By default, the provider decides.
    pub fn max_tokens(mut self, max_tokens: u32) -> Think {
        self.max_tokens = Some(max_tokens);
        self
    }

    fn request(&self, messages: &Messages) -> Request {
        let mut told = messages.clone();
        told.add_system(&self.system, Placement::Append);
        Request {
            tools: Arc::clone(&self.tools),
            temperature: self.temperature,
            max_tokens: self.max_tokens,
            ..Request::new(&told)
        }
    }
}

/// Returns true if the turn is retried: it may succeed soon, and the model has not given up on it.
fn passes(error: &ModelError) -> bool {
    let asked = error.retry_after().unwrap_or_default();
    let is_given_up = matches!(error, ModelError::GivenUp { .. });
    error.is_transient() && !is_given_up && asked <= LONGEST_PAUSE
}

impl Think {
    /// Waits for the pause that the provider has requested.
    async fn wait(&self) {
        let until = *self.pause.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(until) = until {
            tokio::time::sleep_until(until).await;
        }
    }

    /// Keeps the pause that the provider requests, unless it is too long.
    fn keep_pause(&self, error: &ModelError) {
        if let Some(asked) = error.retry_after().filter(|_| passes(error.last())) {
            let mut pause = self.pause.lock().unwrap_or_else(PoisonError::into_inner);
            *pause = (*pause).max(Some(Instant::now() + asked));
        }
    }
}

#[node(
    writes(+messages, turns, spent),
    actions = Thought,
    retry(attempts = 4, wait = "1s", backoff = 2.0, jitter = 0.5, if = passes),
)]
impl Think {
    async fn exec(
        &self,
        cx: &Context,
        messages: &Messages,
        turns: Option<&u32>,
        spent: Option<&Spent>,
    ) -> Result<(Option<Message>, u32, Spent, Thought), ModelError> {
        let turns = turns.copied().unwrap_or_default();
        let spent = spent.copied().unwrap_or_default();
        if turns >= self.turns {
            let pending = Vec::new();
            return Ok((None, turns, spent, Thought::Limit { pending }));
        }
        self.wait().await;
        let model = Budgeted::new(&*self.model, self.budget);
        let model = model.prices(Arc::clone(&self.prices)).after(spent);
        let reply = asked(&model, &self.request(messages), |text| cx.emit(text)).await;
        let spent = model.spent();
        let reply = match reply {
            Ok(reply) => reply,
            Err(ModelError::Budget(BudgetError::Over(over))) => {
                let exhausted = over.to_string();
                return Ok((None, turns, spent, Thought::Budget { exhausted }));
            }
            Err(error) => {
                self.keep_pause(&error);
                return Err(error);
            }
        };
        let turns = turns + 1;
        let reply = match reply.into_complete() {
            Ok(reply) => reply,
            // The partial answer is useless, but its cost counts.
            Err(error) => {
                let reason = error.to_string();
                return Ok((None, turns, spent, Thought::Incomplete { reason }));
            }
        };
        let message = reply.message();
        let thought = match (reply.tool_calls, turns < self.turns) {
            (calls, _) if calls.is_empty() => Thought::Done {
                answer: reply.content,
            },
            (calls, true) => Thought::Call { calls },
            (pending, false) => Thought::Limit { pending },
        };
        Ok((Some(message), turns, spent, thought))
    }
}

impl std::fmt::Debug for Think {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tools: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
        f.debug_struct("Think")
            .field("tools", &tools)
            .field("turns", &self.turns)
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}
