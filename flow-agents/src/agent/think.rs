//! The node of an agent that asks the model.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flow_runtime::prelude::*;
use tokio::time::Instant;

use crate::asked::asked;
use crate::error::ModelError;
use crate::limits::budget::{Budget, Spent};
use crate::limits::budgeted::Budgeted;
use crate::limits::error::BudgetError;
use crate::limits::prices::Prices;
use crate::message::ToolCall;
use crate::messages::{Messages, Placement};
use crate::model::{Model, Request, ToolDefinition};
use crate::tools::Tools;

/// How often an agent asks the model unless [`Think::turns`] says otherwise.
const TURNS: u32 = 10;

/// The longest pause that a provider may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A node that asks a model what to do next: to call tools, or nothing more.
///
/// It reads `messages`, `turns` and `spent`, and writes them with this turn. Its actions are those of
/// [`Thought`].
///
/// The text of the answer is [emitted](Context::emit) as it comes, and with the feature `tracing` each
/// request is a span, as of a [`Chat`](crate::Chat).
///
/// # Retries
/// A turn whose model is overloaded, limits the rate of requests, or breaks off its answer is tried again, up to 4 attempts
/// with pauses of 1 s, 2 s and 4 s, of which a part is random. No tool is called again: calls are only made from a turn
/// that is complete. If the provider asks for a longer pause, no request of this `Think` is made before that; if it asks
/// for more than a minute, its error is returned at once. `with retry(…)` where a flow declares the node says otherwise.
/// A model that is a [`Retrying`](crate::Retrying) decides by itself until an answer begins: what
/// it gives up is not tried again.
///
/// What was emitted of a turn that broke off is emitted anew: an observer is told
/// [`EventKind::AttemptFailed`](flow_runtime::EventKind::AttemptFailed) in between, as of a [`Chat`](crate::Chat). A durable run records each attempt that failed,
/// and continues with the next one after a crash. The crash itself is not counted.
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
    /// Until when the provider wants no requests.
    pause: Arc<Mutex<Option<Instant>>>,
}

/// What a model wants to do next.
#[derive(Debug, Clone, PartialEq, Action, serde::Serialize, serde::Deserialize)]
pub enum Thought {
    /// Nothing more: this is its answer.
    Done {
        /// The text of the answer.
        answer: String,
    },
    /// To call tools.
    Call {
        /// The calls, in the order of the model.
        calls: Vec<ToolCall>,
    },
    /// To call tools, although it has been asked as often as it may be. The calls are not made.
    Limit {
        /// The calls that were not made. Empty if the model may not be asked even once.
        pending: Vec<ToolCall>,
    },
    /// Nothing that is complete: its answer reached the limit of tokens, or was held back.
    Incomplete {
        /// Why, and how much had come.
        reason: String,
    },
    /// It was not asked, because nothing is left of the budget.
    Budget {
        /// What nothing is left of, and what was spent.
        exhausted: String,
    },
}

impl Think {
    /// Asks this model, which may call these tools, up to 10 times.
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

    /// What the model is told before the conversation, behind what the conversation itself says as the
    /// system. It is not kept in the messages: it belongs to the agent.
    pub fn system(mut self, text: impl Into<String>) -> Think {
        self.system = text.into();
        self
    }

    /// How often the model is asked. After the last time, the tools that it calls are not called.
    pub fn turns(mut self, turns: u32) -> Think {
        self.turns = turns;
        self
    }

    /// How much may be spent, over all turns, counted as a [`Budgeted`] model does. A turn that fails writes
    /// nothing, so what it used is not counted in the turn that is tried in its place.
    pub fn budget(mut self, budget: Budget) -> Think {
        self.budget = budget;
        self
    }

    /// What models cost. A model whose price is not there costs nothing, unless the budget limits money:
    /// then it is not asked.
    pub fn prices(mut self, prices: impl Into<Arc<Prices>>) -> Think {
        self.prices = prices.into();
        self
    }

    /// How much chance there is in the answers. Without one, the provider decides.
    pub fn temperature(mut self, temperature: f64) -> Think {
        self.temperature = Some(temperature);
        self
    }

    /// The most tokens that an answer may have. Without a number, the provider decides.
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

/// Returns true if the turn is tried again: it may succeed soon, and nothing has given it up.
fn passes(error: &ModelError) -> bool {
    let asked = error.retry_after().unwrap_or_default();
    let is_given_up = matches!(error, ModelError::GivenUp { .. });
    error.is_transient() && !is_given_up && asked <= LONGEST_PAUSE
}

impl Think {
    /// Waits as long as the provider has asked for.
    async fn wait(&self) {
        let until = *self.pause.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(until) = until {
            tokio::time::sleep_until(until).await;
        }
    }

    /// Keeps how long the provider asks to wait, if that is not too long.
    fn keep_pause(&self, error: &ModelError) {
        if let Some(asked) = error.retry_after().filter(|_| passes(error.last())) {
            let mut pause = self.pause.lock().unwrap_or_else(PoisonError::into_inner);
            *pause = (*pause).max(Some(Instant::now() + asked));
        }
    }
}

#[node(
    writes(messages, turns, spent),
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
    ) -> Result<(Messages, u32, Spent, Thought), ModelError> {
        let turns = turns.copied().unwrap_or_default();
        let spent = spent.copied().unwrap_or_default();
        let mut messages = messages.clone();
        if turns >= self.turns {
            let pending = Vec::new();
            return Ok((messages, turns, spent, Thought::Limit { pending }));
        }
        self.wait().await;
        let model = Budgeted::new(&*self.model, self.budget);
        let model = model.prices(Arc::clone(&self.prices)).after(spent);
        let reply = asked(&model, &self.request(&messages), |text| cx.emit(text)).await;
        let spent = model.spent();
        let reply = match reply {
            Ok(reply) => reply,
            Err(ModelError::Budget(BudgetError::Over(over))) => {
                let exhausted = over.to_string();
                return Ok((messages, turns, spent, Thought::Budget { exhausted }));
            }
            Err(error) => {
                self.keep_pause(&error);
                return Err(error);
            }
        };
        let turns = turns + 1;
        let reply = match reply.into_complete() {
            Ok(reply) => reply,
            // What came is of no use, and what it cost is counted all the same.
            Err(error) => {
                let reason = error.to_string();
                return Ok((messages, turns, spent, Thought::Incomplete { reason }));
            }
        };
        messages.push(reply.message());
        let thought = match (reply.tool_calls, turns < self.turns) {
            (calls, _) if calls.is_empty() => Thought::Done {
                answer: reply.content,
            },
            (calls, true) => Thought::Call { calls },
            (pending, false) => Thought::Limit { pending },
        };
        Ok((messages, turns, spent, thought))
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
