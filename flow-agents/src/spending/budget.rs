//! Budgets of models, and the spending that counts against them.

use std::fmt;
use std::iter::Sum;
use std::ops::AddAssign;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::spending::money::Money;
use crate::usage::Usage;

/// The spending on models: a value that a flow can keep in its state.
///
/// In a durable run, the journal has it with the outcome of the step that wrote it. So it counts
/// once, however often the process crashes.
///
/// # Examples
/// ```
/// use flow_agents::{Money, Spent, Usage};
///
/// let mut spent = Spent::default();
/// spent.add(Usage::new(1200, 80), "0.004".parse::<Money>()?);
/// assert_eq!((spent.calls, spent.usage.total()), (1, 1280));
/// assert_eq!(
///     spent.to_string(),
///     "calls: 1, input tokens: 1200, output tokens: 80, money: 0.004, time: 0ns",
/// );
/// # Ok::<(), flow_agents::ParseMoneyError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Spent {
    /// The number of requests, answered or not. A request that a budget refuses does not count.
    pub calls: u64,
    /// The tokens of the requests.
    pub usage: Usage,
    /// The cost of the tokens.
    pub money: Money,
    /// The time that models took to answer. The times of concurrent requests are added. For a
    /// stream, only the waits for its parts count.
    pub time: Duration,
}

impl Spent {
    /// Adds a request, with its use and its cost.
    pub fn add(&mut self, usage: Usage, cost: Money) {
        self.calls = self.calls.saturating_add(1);
        self.usage += usage;
        self.money += cost;
    }

    /// The maximum of each number of both.
    #[must_use]
    pub(crate) fn max(self, other: Spent) -> Spent {
        Spent {
            calls: self.calls.max(other.calls),
            usage: self.usage.max(other.usage),
            money: self.money.max(other.money),
            time: self.time.max(other.time),
        }
    }
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Spent) {
        self.calls = self.calls.saturating_add(other.calls);
        self.usage += other.usage;
        self.money += other.money;
        self.time = self.time.saturating_add(other.time);
    }
}

impl Sum for Spent {
    fn sum<I: Iterator<Item = Spent>>(all: I) -> Spent {
        all.fold(Spent::default(), |mut sum, spent| {
            sum += spent;
            sum
        })
    }
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "calls: {}, input tokens: {}, output tokens: {}, money: {}, time: {:?}",
            self.calls, self.usage.input_tokens, self.usage.output_tokens, self.money, self.time
        )
    }
}

/// The maximum spending on models. A limit that is not set does not apply.
///
/// The tokens of an answer are known only after it, so a model is asked while something is left of
/// each limit. Until then, a request counts as one call that sends nothing and answers with
/// [`max_tokens`](crate::Request::max_tokens), or with nothing if they are not set. So requests can
/// exceed a limit of tokens or money: a single request by its own use, concurrent requests by all
/// they send, and by their answers without `max_tokens`. All requests under way can exceed a limit
/// of time. The number of calls is never exceeded.
///
/// The use of an [`Embedding`](crate::Embedding) is not counted.
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// use flow_agents::{Budget, Money, Spent, Usage};
///
/// let budget = Budget::new().calls(2).tokens(100_000).time(Duration::from_secs(60));
/// let mut spent = Spent::default();
/// spent.add(Usage::new(900, 100), Money::ZERO);
/// assert!(budget.check(&spent).is_ok());
///
/// spent.add(Usage::new(1900, 100), Money::ZERO);
/// assert_eq!(
///     budget.check(&spent).unwrap_err().to_string(),
///     "nothing is left of a budget (calls: 2); spent on models: calls: 2, input tokens: 2800, \
///      output tokens: 200, money: 0, time: 0ns",
/// );
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    money: Option<Money>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<Duration>,
}

impl Budget {
    /// Creates a budget without limits.
    pub fn new() -> Budget {
        Budget::default()
    }

    /// Limits the number of requests to models.
    pub fn calls(mut self, calls: u64) -> Budget {
        self.calls = Some(calls);
        self
    }

    /// Limits the number of tokens that are sent.
    pub fn input_tokens(mut self, tokens: u64) -> Budget {
        self.input_tokens = Some(tokens);
        self
    }

    /// Limits the number of tokens of answers.
    pub fn output_tokens(mut self, tokens: u64) -> Budget {
        self.output_tokens = Some(tokens);
        self
    }

    /// Limits the number of tokens, sent and answered together.
    pub fn tokens(mut self, tokens: u64) -> Budget {
        self.tokens = Some(tokens);
        self
    }

    /// Limits the money, in the currency of the [`Prices`](crate::Prices).
    pub fn money(mut self, money: Money) -> Budget {
        self.money = Some(money);
        self
    }

    /// Limits the time that models take to answer, all requests together.
    pub fn time(mut self, time: Duration) -> Budget {
        self.time = Some(time);
        self
    }

    /// Returns true if it limits money.
    pub(crate) fn limits_money(&self) -> bool {
        self.money.is_some()
    }

    /// Returns true if it limits tokens or money.
    pub(crate) fn limits_usage(&self) -> bool {
        let tokens = [self.input_tokens, self.output_tokens, self.tokens];
        self.limits_money() || tokens.iter().any(Option::is_some)
    }

    /// Checks that a model may be asked: something is left of each limit.
    ///
    /// # Errors
    /// The first exhausted limit, in the order of the variants of [`Limit`].
    pub fn check(&self, spent: &Spent) -> Result<(), OverBudget> {
        let Usage {
            input_tokens: input,
            output_tokens: output,
            ..
        } = spent.usage;
        let limits = [
            reached(self.calls, spent.calls).map(Limit::Calls),
            reached(self.input_tokens, input).map(Limit::InputTokens),
            reached(self.output_tokens, output).map(Limit::OutputTokens),
            reached(self.tokens, spent.usage.total()).map(Limit::Tokens),
            reached(self.money, spent.money).map(Limit::Money),
            reached(self.time, spent.time).map(Limit::Time),
        ];
        match limits.into_iter().flatten().next() {
            None => Ok(()),
            Some(limit) => Err(OverBudget {
                limit,
                spent: *spent,
            }),
        }
    }
}

/// The limit, if nothing is left of it.
fn reached<T: PartialOrd>(limit: Option<T>, spent: T) -> Option<T> {
    limit.filter(|limit| spent >= *limit)
}

/// A limit of a [`Budget`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// The number of calls.
    Calls(u64),
    /// The number of tokens that are sent.
    InputTokens(u64),
    /// The number of tokens of answers.
    OutputTokens(u64),
    /// The number of tokens of both.
    Tokens(u64),
    /// The amount of money.
    Money(Money),
    /// The time.
    Time(Duration),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Calls(calls) => write!(f, "calls: {calls}"),
            Limit::InputTokens(tokens) => write!(f, "input tokens: {tokens}"),
            Limit::OutputTokens(tokens) => write!(f, "output tokens: {tokens}"),
            Limit::Tokens(tokens) => write!(f, "tokens: {tokens}"),
            Limit::Money(money) => write!(f, "money: {money}"),
            Limit::Time(time) => write!(f, "time: {time:?}"),
        }
    }
}

/// A limit of a budget is exhausted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("nothing is left of a budget ({limit}); spent on models: {spent}")]
#[non_exhaustive]
pub struct OverBudget {
    /// The limit.
    pub limit: Limit,
    /// The spending.
    pub spent: Spent,
}
