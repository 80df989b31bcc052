//! The options of a single run.

use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::lifecycle::Lifecycle;
use crate::observer::{Observer, together};
#[cfg(feature = "stored")]
use crate::question::Answers;
use crate::question::NoAnswers;
#[cfg(feature = "stored")]
use crate::requirement::WithSignals;
use crate::requirement::WithTransactions;
use crate::transaction::Transactions;

/// The number of steps that a run may take, unless [`RunOptions::step_budget`] sets another one.
pub const DEFAULT_STEP_BUDGET: u64 = 1_000_000;

/// The options of a single run, passed to [`Flow::run_with`](crate::Flow::run_with).
///
/// # Examples
///
/// ```
/// use flow_runtime::prelude::*;
///
/// #[derive(Action)]
/// enum Again { Again }
///
/// #[node(actions = Again)]
/// fn spin() -> Again { Again::Again }
/// # #[derive(Action)] enum Stop { Go, Stop }
/// # #[node(actions = Stop)] fn check() -> Stop { Stop::Go }
///
/// flow! {
///     Spin() {
///         start >> spin;
///         spin - "again" >> check;
///         check - "go" >> spin;
///         check - "stop" >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let options = RunOptions::new().step_budget(100);
/// let error = Spin::new().run_with(SpinInput::builder().build(), options).await.unwrap_err();
/// assert!(matches!(error, FlowError::StepLimit { limit: 100, .. }));
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct RunOptions<A = NoAnswers> {
    #[doc(hidden)]
    pub settings: RunSettings,
    answers: PhantomData<A>,
}

/// The options that do not depend on who answers.
#[doc(hidden)]
#[derive(Clone)]
pub struct RunSettings {
    pub(crate) step_budget: u64,
    pub(crate) deadline: Option<Duration>,
    pub(crate) concurrency: Option<NonZeroUsize>,
    pub(crate) cancellation: Option<CancellationToken>,
    pub(crate) observer: Option<Arc<dyn Observer>>,
    pub(crate) lifecycle: Option<Lifecycle>,
    pub(crate) transactions: Option<Arc<dyn Transactions>>,
    #[cfg(feature = "stored")]
    pub(crate) answer: Option<Arc<dyn crate::question::Answer>>,
    #[cfg(feature = "stored")]
    pub(crate) signals: Option<Arc<crate::signal::SignalReceiver>>,
}

impl RunSettings {
    pub(crate) fn new() -> Self {
        RunSettings {
            step_budget: DEFAULT_STEP_BUDGET,
            deadline: None,
            concurrency: None,
            cancellation: None,
            observer: None,
            lifecycle: None,
            transactions: None,
            #[cfg(feature = "stored")]
            answer: None,
            #[cfg(feature = "stored")]
            signals: None,
        }
    }
}

impl RunOptions {
    /// The defaults: a budget of a million steps, no cancellation, no observer, nobody to ask,
    /// no sender of signals.
    pub fn new() -> Self {
        RunOptions {
            settings: RunSettings::new(),
            answers: PhantomData,
        }
    }
}

#[cfg(feature = "stored")]
impl RunOptions<Answers> {
    /// The defaults, with somebody who answers the flow's questions: the terminal (crate
    /// `flow-terminal`), a function of the question, or any other [`Answer`](crate::Answer).
    pub fn answer(answer: impl crate::question::Answer) -> Self {
        RunOptions {
            settings: RunSettings {
                answer: Some(Arc::new(answer)),
                ..RunSettings::new()
            },
            answers: PhantomData,
        }
    }
}

impl<A> RunOptions<A> {
    /// Sets the number of steps that the run may take, including those of nested flows. Before a
    /// step that would exceed it, the run ends with
    /// [`FlowError::StepLimit`](crate::FlowError::StepLimit).
    pub fn step_budget(mut self, steps: u64) -> Self {
        self.settings.step_budget = steps;
        self
    }

    /// Ends the run with [`FlowError::TimedOut`](crate::FlowError::TimedOut) if it takes longer, in
    /// the same way as a cancellation.
    pub fn deadline(mut self, after: Duration) -> Self {
        self.settings.deadline = Some(after);
        self
    }

    /// Limits how many nodes run at once, in all forks and loops of the run together. By default,
    /// only the limits of the forks and loops apply.
    pub fn concurrency(mut self, nodes: NonZeroUsize) -> Self {
        self.settings.concurrency = Some(nodes);
        self
    }

    /// Ends the run with [`FlowError::Cancelled`](crate::FlowError::Cancelled) when the token is
    /// cancelled: the running nodes are dropped at their next `.await`. They are not retried, and
    /// their fallbacks are not called.
    pub fn cancellation(mut self, token: CancellationToken) -> Self {
        self.settings.cancellation = Some(token);
        self
    }

    /// Sets the lifecycle with which nodes register their cleanup, instead of one of the run's own.
    /// The run does not [finish](Lifecycle::finish) it. A node that runs another flow can pass it
    /// [its own](crate::Context::lifecycle).
    pub fn lifecycle(mut self, lifecycle: Lifecycle) -> Self {
        self.settings.lifecycle = Some(lifecycle);
        self
    }

    /// Lets nodes with the setting `transaction` write to this database: see [`Transactions`]. For
    /// the database of a store of `flow_durable`, pass `flow_durable::StoreTransactions`.
    pub fn transactions(self, database: impl Transactions) -> RunOptions<WithTransactions<A>> {
        RunOptions {
            settings: RunSettings {
                transactions: Some(Arc::new(database)),
                ..self.settings
            },
            answers: PhantomData,
        }
    }

    /// Lets the run take signals from this sender. Several runs may have one sender; each signal is
    /// taken by one of them.
    #[cfg(feature = "stored")]
    pub fn signals(self, sender: &crate::signal::SignalSender) -> RunOptions<WithSignals<A>> {
        RunOptions {
            settings: RunSettings {
                signals: Some(sender.receiver()),
                ..self.settings
            },
            answers: PhantomData,
        }
    }

    /// Adds an observer. It is called after the observers that were added before it.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use flow_runtime::prelude::*;
    ///
    /// #[node]
    /// fn greet() -> String {
    ///     "Hello!".to_owned()
    /// }
    ///
    /// flow! {
    ///     Greeting() -> (greet: String) {
    ///         start >> greet >> end;
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
    /// let (lines, count) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(0)));
    /// let (to_lines, to_count) = (lines.clone(), count.clone());
    /// let options = RunOptions::new()
    ///     .observer(Arc::new(move |event: &Event<'_>| to_lines.lock().unwrap().push(event.to_string())))
    ///     .observer(Arc::new(move |_: &Event<'_>| *to_count.lock().unwrap() += 1));
    /// Greeting::new().run_with(GreetingInput::builder().build(), options).await?;
    /// assert_eq!(lines.lock().unwrap()[0], "greeting.greet started");
    /// assert_eq!(*count.lock().unwrap(), 3);
    /// # Ok(()) }
    /// ```
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        let earlier = self.settings.observer.into_iter();
        self.settings.observer = together(earlier.chain([observer]));
        self
    }
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions::new()
    }
}

impl<A> fmt::Debug for RunOptions<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("RunOptions");
        self.settings.write_fields(&mut debug);
        debug.finish()
    }
}

impl fmt::Debug for RunSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("RunSettings");
        self.write_fields(&mut debug);
        debug.finish()
    }
}

impl RunSettings {
    fn write_fields(&self, debug: &mut fmt::DebugStruct<'_, '_>) {
        debug
            .field("step_budget", &self.step_budget)
            .field("deadline", &self.deadline)
            .field("concurrency", &self.concurrency)
            .field("cancellation", &self.cancellation)
            .field("observer", &self.observer.as_ref().map(|_| "…"));
    }
}
