//! The trait of all flows: their signature, their routing table, and the methods that run them.

use std::fmt::{Debug, Display};
use std::future::Future;
use std::pin::Pin;

use crate::error::FlowError;
use crate::options::{RunOptions, RunSettings};
use crate::question::{CanAnswer, Unasked};
use crate::requirement::{CanReceive, CanTransact, Untransacted, WithoutSignals};
use crate::spec_text::as_text;

/// A flow. Implemented by [`flow!`](crate::flow).
///
/// A flow value holds the values of the flow's nodes. It can be run any number of times, also
/// concurrently.
///
/// # Examples
///
/// Code that works with any flow:
///
/// ```
/// use flow_runtime::prelude::*;
/// use flow_runtime::Target;
///
/// /// The flow's edges, one a line.
/// fn edges<F: Flow>() -> String {
///     let mut text = String::new();
///     for route in F::ROUTES {
///         let from = route.from.map_or("start".to_owned(), |node| node.to_string());
///         let to = match route.to {
///             Target::Node(node) => node.to_string(),
///             Target::End(end) => format!("end(\"{end}\")"),
///         };
///         text += &format!("{from} - \"{}\" >> {to}\n", route.action);
///     }
///     text
/// }
///
/// #[node]
/// fn answer(question: &str) -> String {
///     format!("{question} Yes.")
/// }
///
/// flow! {
///     Qa(question: String) -> (answer: String) {
///         start >> answer >> end;
///     }
/// }
///
/// assert_eq!(edges::<Qa>(), "start - \"default\" >> answer\nanswer - \"default\" >> end(\"default\")\n");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a flow",
    label = "not a flow",
    note = "write the name of the flow, which stands after `flow!`"
)]
pub trait Flow: Send + Sync {
    /// The inputs of a run. For `Qa`, the struct `QaInput`.
    type Input: Send + 'static;
    /// The outputs of a run. For `Qa`, the struct `QaOutput`.
    type Output: Send;
    /// The nodes. For `Qa`, the enum `QaNode`.
    type Node: Copy + Debug + Display + Send + Sync + 'static;
    /// The ends. For `Qa`, the enum `QaEnd`.
    type End: Copy + Debug + Display + Send + Sync + 'static;
    /// The flow's name, as written.
    const NAME: &'static str;

    /// The first segment of the path of each of its nodes: its declared `namespace`, or else its
    /// name in snake_case. A flow used as a node has the namespace of that node instead.
    const NAMESPACE: &'static str;

    /// The flow as JSON, without the values of its settings: one line, with the inner flows. Inner
    /// flows have no `namespace`, because they use that of their node. Flows nested deeper than 32
    /// levels are left out.
    ///
    /// The built program contains these bytes, and `cargo flow` finds them there.
    /// `flow_spec::FlowDocument::parse_spec` reads them.
    const SPEC: &'static str = as_text(Self::__SPEC);

    /// The bytes of [`SPEC`](Flow::SPEC). rustc takes longer to check that they are UTF-8 than to
    /// assemble them, so it checks only flows whose `SPEC` is used.
    #[doc(hidden)]
    const __SPEC: &'static [u8];

    /// The route of every action of every node, in the order written.
    const ROUTES: &'static [Route<Self::Node, Self::End>];

    /// Runs the flow to an end. This does not compile for a flow that asks people, opens
    /// transactions or waits for signals: see [`run_with`](Flow::run_with).
    ///
    /// The future is boxed. A flow that does none of these also has inherent methods `run` and `run_with`
    /// without a box. Code that names the type of its flow calls these.
    ///
    /// # Errors
    ///
    /// A node failed ([`FlowError::Node`]) or panicked ([`FlowError::Panicked`]), or the run took
    /// more than a million steps ([`FlowError::StepLimit`]).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the running node: it is not retried, and its fallback is not
    /// called. The values of the run are lost. Effects of its nodes elsewhere remain.
    //
    // Not `impl Future`: if a bound does not hold, rustc would also report the future, once where
    // it is made and once where it is awaited.
    #[inline]
    fn run(&self, input: Self::Input) -> Running<'_, Self::Output>
    where
        Self: Unattended,
    {
        self.__run(input)
    }

    /// Runs the flow to an end with options: a budget, a cancellation token, an observer, somebody
    /// who answers the flow's questions, a database for its transactions, or a sender of its
    /// signals. With the feature
    /// `tracing`, each node runs in a span that carries its path.
    ///
    /// # Errors
    ///
    /// Errors as for [`run`](Flow::run), or [`FlowError::Cancelled`], `TimedOut` or `Unanswered`.
    ///
    /// # Cancel safety
    ///
    /// See [`run`](Flow::run).
    #[inline]
    fn run_with<A>(&self, input: Self::Input, options: RunOptions<A>) -> Running<'_, Self::Output>
    where
        Self: Sized,
        A: CanAnswer<Self> + CanTransact<Self> + CanReceive<Self>,
    {
        self.__run_with(input, options.settings)
    }

    #[doc(hidden)]
    fn __run(&self, input: Self::Input) -> Running<'_, Self::Output>;

    #[doc(hidden)]
    fn __run_with(&self, input: Self::Input, settings: RunSettings) -> Running<'_, Self::Output>;
}

/// A run of a flow of any type, as [`Flow::run`] returns it.
pub type Running<'a, T> = Pin<Box<dyn Future<Output = Result<T, FlowError>> + Send + 'a>>;

/// A flow that asks no people, opens no transactions and waits for no signals, so that [`run`](Flow::run) can run it.
/// Every such flow implements it; generic code that runs flows can require it.
///
/// # Examples
///
/// ```
/// use flow_runtime::prelude::*;
/// use flow_runtime::Unattended;
///
/// /// Runs a flow, and again if it fails.
/// async fn twice<F: Unattended>(flow: &F, input: impl Fn() -> F::Input) -> Result<F::Output, FlowError> {
///     match flow.run(input()).await {
///         Ok(output) => Ok(output),
///         Err(_) => flow.run(input()).await,
///     }
/// }
///
/// #[node]
/// fn greet(name: &str) -> String {
///     format!("Hello, {name}!")
/// }
///
/// flow! {
///     Greeting(name: String) -> (greet: String) {
///         start >> greet >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
/// let output = twice(&Greeting::new(), || GreetingInput { name: "Ann".into() }).await?;
/// assert_eq!(output.greet, "Hello, Ann!");
/// # Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot run on its input alone: it asks people, opens transactions, or waits for signals",
    label = "needs more than its input",
    note = "if it asks people, let somebody answer: `run_with(input, RunOptions::answer(…))`",
    note = "if one of its nodes has the setting `transaction`, give the run a database: \
            `run_with(input, RunOptions::new().transactions(…))`",
    note = "if it waits for signals, give the run a sender: `run_with(input, RunOptions::new().signals(&sender))`",
    note = "or start it with `flow_durable::Runtime`: its store is the database, and the answer may come later and from \
            another process"
)]
pub trait Unattended:
    Flow + for<'a> Unasked<'a> + for<'a> Untransacted<'a> + for<'a> WithoutSignals<'a>
{
}

#[diagnostic::do_not_recommend]
impl<F> Unattended for F where
    F: Flow + for<'a> Unasked<'a> + for<'a> Untransacted<'a> + for<'a> WithoutSignals<'a>
{
}

/// One line of a flow's routing table: `from - "action" >> to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route<N, E> {
    /// The node at which it starts. `None` is `start`.
    pub from: Option<N>,
    /// The action that it routes.
    pub action: &'static str,
    /// The target.
    pub to: Target<N, E>,
}

/// The target of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target<N, E> {
    /// A node.
    Node(N),
    /// An end of the flow.
    End(E),
}
