//! An engine that draws when which node was under way.

use std::fmt;
use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use flow_runtime::RunOptions;
use flow_runtime::engine::{
    AnyOrder, Engine, Failed, Hooks, Run, Scope, StateHooks, Step, carry_out,
};
use tokio::time::Instant;

/// Runs a flow, and notes when each of its steps began and ended. Printed, it has a line for each.
#[derive(Debug)]
pub struct Timeline {
    run: Run,
    began: Instant,
    steps: Mutex<Vec<Bar>>,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Bar {
    path: String,
    from: Duration,
    to: Option<Duration>,
}

impl Timeline {
    /// A timeline that begins now, of a run with these options.
    pub fn new<A>(options: RunOptions<A>) -> Self {
        Timeline {
            run: Run::numbered(options),
            began: Instant::now(),
            steps: Mutex::default(),
        }
    }

    fn begin(&self, path: String) -> usize {
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        steps.push(Bar {
            path,
            from: self.began.elapsed(),
            to: None,
        });
        steps.len() - 1
    }

    fn end(&self, step: usize) {
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        steps[step].to = Some(self.began.elapsed());
    }
}

impl Hooks for Timeline {
    type Order = AnyOrder;

    fn run(&self) -> &Run {
        &self.run
    }

    async fn wait(&self, scope: &Scope<'_>, duration: Duration) -> Result<(), Failed> {
        let step = self.begin(scope.frame().path().to_string());
        tokio::time::sleep(duration).await;
        self.end(step);
        Ok(())
    }
}

impl<N: Step> Engine<N> for Timeline {
    async fn step<'s, W>(&self, scope: &'s Scope<'s>, work: W) -> Result<N::Outcome, Failed>
    where
        W: Future<Output = Result<N::Outcome, Failed>> + Send,
    {
        let step = self.begin(scope.frame().path().to_string());
        let outcome = carry_out(scope, self.run.is_limited(), work).await;
        self.end(step);
        outcome
    }
}

impl<S> StateHooks<S> for Timeline {}

/// How many columns the whole time takes.
const COLUMNS: u128 = 40;

impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let end = steps.iter().filter_map(|step| step.to).max();
        let whole = end.unwrap_or_default().as_nanos().max(1);
        let column = |time: Duration| {
            usize::try_from(time.as_nanos() * COLUMNS / whole).unwrap_or(usize::MAX)
        };
        let width = steps.iter().map(|step| step.path.len()).max();
        for Bar { path, from, to } in &*steps {
            let (from, to) = (column(*from), column(to.or(end).unwrap_or(*from)));
            let bar = "#".repeat((to - from).max(1));
            writeln!(
                f,
                "{path:width$} {:from$}{bar}",
                "",
                width = width.unwrap_or(0)
            )?;
        }
        Ok(())
    }
}
