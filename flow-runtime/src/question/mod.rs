//! What a flow asks people, and who answers in a run without a store.
//!
//! Whether a flow asks anything is part of its type, so that `run`, which has nobody to ask, does not compile for one that
//! does.

#[cfg(feature = "durable")]
mod answer;
#[cfg(feature = "terminal")]
mod dialogue;
#[cfg(feature = "terminal")]
mod shape;
#[cfg(feature = "terminal")]
mod terminal;

use std::fmt;
use std::marker::PhantomData;

#[cfg(feature = "durable")]
pub(crate) use answer::ask;
#[cfg(feature = "durable")]
pub use answer::{Answer, Human, Question, QuestionType};
#[cfg(feature = "terminal")]
pub use terminal::Terminal;

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

/// What a flow asks is answered without anybody, as it asks nothing.
pub trait Unasked {}

impl Unasked for NoQuestion {}

impl<A: Unasked, B: Unasked> Unasked for (A, B) {}

impl<T: AnsweredByNobody> Unasked for Asked<T> {}

/// Never implemented: rustc names it where a flow that asks something is run without an answerer.
#[diagnostic::on_unimplemented(
    message = "the flow asks a person for `{Self}`, and there is nobody to answer",
    label = "asks for `{Self}`",
    note = "give it somebody who answers: `flow.run_with(input, RunOptions::answer(…))`; or start it with \
            `flow_runtime::durable::Runtime`, where the answer may come later and from another process"
)]
pub trait AnsweredByNobody {}

/// Options with nobody to ask.
#[derive(Debug, Clone, Copy)]
pub struct NoAnswers;

/// Options with somebody to ask: [`RunOptions::answer`](crate::RunOptions::answer).
#[derive(Debug, Clone, Copy)]
pub struct Answers;

/// What a flow asks is answered under these options.
pub trait AnsweredBy<A> {}

impl<T: Unasked> AnsweredBy<NoAnswers> for T {}

impl<T> AnsweredBy<Answers> for T {}
