//! What a flow asks people, and who answers in a run without a store.
//!
//! Whether a flow asks anything is part of its type, so that `run`, which has nobody to ask, does
//! not compile for one that does.

#[cfg(feature = "stored")]
mod answer;
#[cfg(feature = "stored")]
mod ask;

use std::fmt;
use std::marker::PhantomData;

#[cfg(feature = "stored")]
pub use answer::{Answer, Form, Human, Question, QuestionType, Submission, form};
#[cfg(feature = "stored")]
pub use ask::ask;

/// A node that asks nobody.
#[derive(Debug)]
pub struct NoQuestion;

/// A node whose value `T` comes from a person.
pub struct Asked<T>(PhantomData<fn() -> T>);

impl<T> Default for Asked<T> {
    fn default() -> Self {
        Asked(PhantomData)
    }
}

impl<T> fmt::Debug for Asked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Asked")
    }
}

/// What needs nobody to answer, as it asks nothing: a node, a flow, or several of them as a tree of
/// pairs.
///
/// No message is to show it, nor the types that stand for questions: rustc names the flow and
/// [`Unattended`](crate::Unattended) instead, or [`CanAnswer`].
///
/// The lifetime means nothing. A bound without one, on types that are all known, would have to hold
/// where a flow is defined, and not only where it is run.
pub trait Unasked<'a> {}

impl<'a> Unasked<'a> for NoQuestion {}

/// What rustc has in place of a name that is not a node. It has said so, and that is enough.
impl<'a> Unasked<'a> for () {}

#[diagnostic::do_not_recommend]
impl<'a, A: Unasked<'a>, B: Unasked<'a>> Unasked<'a> for (A, B) {}

#[diagnostic::do_not_recommend]
impl<'a, T: AnsweredByNobody> Unasked<'a> for Asked<T> {}

/// Never implemented, so that nothing that asks is [`Unasked`].
pub trait AnsweredByNobody {}

/// Options with nobody to ask.
#[derive(Debug, Clone, Copy)]
pub struct NoAnswers;

/// Options with somebody to ask: [`RunOptions::answer`](crate::RunOptions::answer).
#[cfg(feature = "stored")]
#[derive(Debug, Clone, Copy)]
pub struct Answers;

/// Options under which what a flow asks is answered.
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
