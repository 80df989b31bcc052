//! Actions: the named outcomes that edges route.

/// The outcomes of a node, each with the name that edges route. Implemented by
/// [`#[derive(Action)]`](derive@crate::Action), which defines the names.
///
/// # Examples
///
/// ```
/// use flow_runtime::prelude::*;
///
/// #[derive(Action)]
/// enum Verdict {
///     Approved { amount: u64 },
///     #[action("revise")]
///     NeedsRevision { feedback: String },
///     Rejected,
/// }
///
/// assert_eq!(Verdict::ACTIONS, ["approved", "revise", "rejected"]);
/// assert_eq!(Verdict::Approved { amount: 3 }.action(), "approved");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no actions",
    label = "not an enum of actions",
    note = "put `#[derive(Action)]` on the enum; the derive is in the prelude"
)]
pub trait Action {
    /// The names of all actions, in the order of the variants.
    const ACTIONS: &'static [&'static str];

    /// The name of this action.
    fn action(&self) -> &'static str;
}

/// Six common actions: `"complete"`, `"error"`, `"success"`, `"failure"`, `"retry"` and
/// `"default"`.
///
/// A flow has to route all six. For a node that takes only some of them, define an enum of its own.
///
/// # Examples
///
/// ```
/// use flow_runtime::prelude::*;
///
/// #[node(actions = FlowAction)]
/// fn classify(question: &str) -> FlowAction {
///     if question.ends_with('?') { FlowAction::Success } else { FlowAction::Failure }
/// }
///
/// flow! {
///     Classify(question: String) {
///         start >> classify >> end;
///         classify - "success"  >> end;
///         classify - "complete" >> end;
///         classify - "failure"  >> end("no_question");
///         classify - "error"    >> end("no_question");
///         classify - "retry"    >> classify;
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
/// # let output = Classify::new().run(ClassifyInput { question: "no".into() }).await?;
/// # assert_eq!(output.end, ClassifyEnd::NoQuestion);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, flow_macros::Action)]
pub enum FlowAction {
    /// The work is complete.
    Complete,
    /// The work went wrong.
    Error,
    /// The work succeeded.
    Success,
    /// The work did not succeed.
    Failure,
    /// The work should be done again.
    Retry,
    /// No particular outcome.
    Default,
}
