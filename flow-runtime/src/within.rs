//! A run within a step of another run: a node runs a flow that it does not contain, such as one
//! that a language model has chosen.
//!
//! For the outer run, all of it is one step. So the inner run has no journal, and its observer, its
//! cancellation and the conditions for its attempts are those of the outer run.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::time::Instant;

use crate::context::{Context, RunWithin};
use crate::frame::{Frame, Place};
use crate::history::{EarlierAttempts, History, Pause};
use crate::node_error::NodeError;
use crate::run::Run;
use crate::step_id::StepAround;

impl Run {
    /// Creates a run within the step of another run whose context this is. For the outer run, it is
    /// part of that one step: a durable run records the step when it is over, and repeats all of it
    /// after a crash before that.
    ///
    /// Its cancellation and its lifecycle are those of the outer run. The observer of the outer run
    /// receives what the nodes [emit](Context::emit) and their progress, as if they were those of
    /// the outer step, and nothing else. The run has its own budget of steps. It can neither ask
    /// people nor write in a transaction of the outer run.
    ///
    /// The [ids of its steps](Context::step_id) consist of the id of the outer step, the number of
    /// the run among those begun with this context, the step, and the number of the visit unless it
    /// is the first. Another attempt of the outer step has a context of its own, so a run that is
    /// begun again in the same order has the same ids. `prep`, `exec` and `post` have contexts of
    /// their own as well: begin runs in one of them only.
    ///
    /// # Examples
    ///
    /// A node that runs the flow it was given:
    ///
    /// ```
    /// use std::sync::Arc;
    /// use flow_runtime::engine::{self, Direct};
    /// use flow_runtime::prelude::*;
    ///
    /// #[node(writes = text)]
    /// fn loud(text: &str) -> String { text.to_uppercase() }
    ///
    /// flow! {
    ///     Loud(text: String) -> (text: String) { start >> loud >> end; }
    /// }
    ///
    /// #[node(writes = text)]
    /// async fn chosen(cx: &Context, text: String) -> Result<String, FlowError> {
    ///     let output = engine::run(&Loud::new(), &Direct::within(cx), LoudInput { text }).await?;
    ///     Ok(output.text)
    /// }
    ///
    /// flow! {
    ///     Outer(text: String) -> (text: String) { start >> chosen >> end; }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
    /// let output = Outer::new().run(OuterInput { text: "quiet".into() }).await?;
    /// assert_eq!(output.text, "QUIET");
    /// # Ok(()) }
    /// ```
    pub fn within(context: &Context) -> Self {
        let RunWithin {
            id,
            settings,
            step,
            step_id,
            number,
        } = context.run_within();
        let within = step.map(|(outer, place)| Within {
            outer,
            place,
            number,
        });
        let history = within.map(|within| Arc::new(within) as Arc<dyn History>);
        let around = StepAround::new(&step_id, number);
        Run::within_step(id, settings, history, around)
    }
}

/// The history of a run within a step: it knows no earlier runs of the outer step.
#[derive(Debug)]
struct Within {
    outer: Arc<dyn History>,
    /// The place of the outer step.
    place: Place,
    number: u32,
}

impl History for Within {
    fn step_id(&self, place: &Place) -> String {
        let outer = self.outer.step_id(&self.place);
        format!("{outer}/{}/{}", self.number, place.step)
    }

    fn execution(&self) -> String {
        self.outer.execution()
    }

    fn spent_at(&self, _: &Frame<'_>) -> Duration {
        Duration::ZERO
    }

    fn attempt_failed(
        &self,
        _: &Frame<'_>,
        _: u32,
        _: &(dyn Error + Send + Sync + 'static),
    ) -> bool {
        true
    }

    fn attempts(&self, _: &Frame<'_>) -> EarlierAttempts {
        EarlierAttempts::default()
    }

    fn gave_up(&self, _: &Frame<'_>, _: u32, _: &NodeError) {}

    fn sleep_until(&self, _: &Frame<'_>, _: Pause, instant: Instant) -> BoxFuture<'_, ()> {
        // Not the sleep of the outer run: it may drop a sleeping step and begin it again later, and
        // the work of the inner run would be lost.
        Box::pin(tokio::time::sleep_until(instant))
    }

    fn may_try(&self) -> BoxFuture<'_, ()> {
        self.outer.may_try()
    }
}
