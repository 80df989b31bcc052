//! The questions of flows to people, and their answers in a run without a store.
//!
//! The type of a flow says if it asks anything. So `run`, which has nobody to ask, does not compile
//! for a flow that asks.

#[cfg(feature = "stored")]
mod answer;

#[cfg(feature = "stored")]
pub use answer::{Answer, Human, Question};

/// A flow that asks nobody.
///
/// Messages should not show this trait: rustc names the flow and [`Unattended`](crate::Unattended)
/// or [`CanAnswer`] instead.
///
/// The lifetime has no meaning. A bound without one, on types that are all known, would have to
/// hold where a flow is defined, and not only where it is run.
pub trait Unasked<'a> {}

/// A type that says if a flow asks people.
#[derive(Debug)]
pub struct AsksPeople<const ASKS: bool>;

impl<'a> Unasked<'a> for AsksPeople<false> {}

/// Options with nobody to ask.
#[derive(Debug, Clone, Copy)]
pub struct NoAnswers;

/// Options with somebody to ask: [`RunOptions::answer`](crate::RunOptions::answer).
#[cfg(feature = "stored")]
#[derive(Debug, Clone, Copy)]
pub struct Answers;

/// Options of a run that answer the questions of a flow `F`.
///
/// Pass `RunOptions::answer`, or start the flow with `flow_durable::Runtime`.
#[diagnostic::on_unimplemented(
    message = "nobody is there to answer what `{F}` asks people",
    label = "needs somebody who answers",
    note = "let somebody answer: `run_with(input, RunOptions::answer(…))`; or start it with \
            `flow_durable::Runtime`, where the answer may come later and from another process"
)]
pub trait CanAnswer<F> {}

#[diagnostic::do_not_recommend]
impl<F: for<'a> Unasked<'a>> CanAnswer<F> for NoAnswers {}

#[cfg(feature = "stored")]
#[diagnostic::do_not_recommend]
impl<F> CanAnswer<F> for Answers {}
