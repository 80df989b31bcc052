//! The requirements of a flow on its run, as part of its type: somebody who answers its questions, a
//! database for its transactions, and a sender of its signals. So `run`, which has none of them,
//! does not compile for a flow that needs one.

use std::fmt;
use std::marker::PhantomData;

use crate::question::{CanAnswer, NoAnswers};

/// A flow that opens no transactions.
///
/// Messages should not show this trait: rustc names the flow and [`Unattended`](crate::Unattended)
/// or [`CanTransact`] instead. For the lifetime, see `Unasked`.
pub trait Untransacted<'a> {}

/// A type that says if a flow opens transactions.
#[derive(Debug)]
pub struct OpensTransactions<const OPENS: bool>;

impl<'a> Untransacted<'a> for OpensTransactions<false> {}

/// Options of a run with a database for transactions:
/// [`RunOptions::transactions`](crate::RunOptions::transactions). `A` says who answers.
pub struct WithTransactions<A>(PhantomData<A>);

impl<A> fmt::Debug for WithTransactions<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WithTransactions")
    }
}

#[diagnostic::do_not_recommend]
impl<F, A: CanAnswer<F>> CanAnswer<F> for WithTransactions<A> {}

/// Options of a run that let the nodes of a flow `F` open transactions.
///
/// Pass `RunOptions::transactions`, or start the flow with `flow_durable::Runtime`.
#[diagnostic::on_unimplemented(
    message = "no database is there for the transactions of `{F}`",
    label = "needs a database",
    note = "give the run one: `RunOptions::transactions(…)`; or start it with `flow_durable::Runtime`, whose store has one"
)]
pub trait CanTransact<F> {}

#[diagnostic::do_not_recommend]
impl<F: for<'a> Untransacted<'a>> CanTransact<F> for NoAnswers {}

#[cfg(feature = "stored")]
#[diagnostic::do_not_recommend]
impl<F: for<'a> Untransacted<'a>> CanTransact<F> for crate::question::Answers {}

#[diagnostic::do_not_recommend]
impl<F, A> CanTransact<F> for WithTransactions<A> {}

/// A node whose value `T` comes from outside, so that a flow holds none for it.
pub struct NoValue<T>(PhantomData<fn() -> T>);

impl<T> Default for NoValue<T> {
    fn default() -> Self {
        NoValue(PhantomData)
    }
}

impl<T> fmt::Debug for NoValue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NoValue")
    }
}

/// A flow that waits for no signals.
///
/// Messages should not show this trait: rustc names the flow and [`Unattended`](crate::Unattended)
/// or [`CanReceive`] instead. For the lifetime, see `Unasked`.
pub trait WithoutSignals<'a> {}

/// A type that says if a flow waits for signals.
#[derive(Debug)]
pub struct ReceivesSignals<const RECEIVES: bool>;

impl<'a> WithoutSignals<'a> for ReceivesSignals<false> {}

/// Options of a run to which signals can be sent:
/// [`RunOptions::signals`](crate::RunOptions::signals). `A` says who answers.
#[cfg(feature = "stored")]
pub struct WithSignals<A>(PhantomData<A>);

#[cfg(feature = "stored")]
impl<A> fmt::Debug for WithSignals<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WithSignals")
    }
}

#[cfg(feature = "stored")]
#[diagnostic::do_not_recommend]
impl<F, A: CanAnswer<F>> CanAnswer<F> for WithSignals<A> {}

#[cfg(feature = "stored")]
#[diagnostic::do_not_recommend]
impl<F, A: CanTransact<F>> CanTransact<F> for WithSignals<A> {}

/// Options of a run that can pass signals to a flow `F`.
///
/// Pass `RunOptions::signals`, or start the flow with `flow_durable::Runtime`.
#[diagnostic::on_unimplemented(
    message = "nobody can send the signals for which `{F}` waits",
    label = "needs a sender",
    note = "give the run one: `RunOptions::new().signals(&sender)`, with `SignalSender::new(&flow)`; or start it with \
            `flow_durable::Runtime`, whose executions take signals"
)]
pub trait CanReceive<F> {}

#[diagnostic::do_not_recommend]
impl<F: for<'a> WithoutSignals<'a>> CanReceive<F> for NoAnswers {}

#[cfg(feature = "stored")]
#[diagnostic::do_not_recommend]
impl<F: for<'a> WithoutSignals<'a>> CanReceive<F> for crate::question::Answers {}

#[diagnostic::do_not_recommend]
impl<F, A: CanReceive<F>> CanReceive<F> for WithTransactions<A> {}

#[cfg(feature = "stored")]
#[diagnostic::do_not_recommend]
impl<F, A> CanReceive<F> for WithSignals<A> {}
