//! Requests that wait.

use std::time::Duration;

use flow_durable::Execution;

use crate::app::App;
use crate::problem::Problem;
use crate::views::ExecutionView;

/// Returns an execution once it ends or waits for people, or after this many seconds.
pub(super) async fn waited(
    app: &App,
    execution: &Execution,
    seconds: u64,
) -> Result<ExecutionView, Problem> {
    let limit = Duration::from_secs(seconds).min(app.limits().wait);
    let settled = tokio::select! {
        settled = tokio::time::timeout(limit, execution.settled()) => settled.ok(),
        () = app.closing().cancelled() => None,
    };
    match settled {
        Some(Ok(settled)) => ExecutionView::of(&settled),
        None => ExecutionView::of(&execution.refreshed().await?),
        Some(Err(error)) => {
            let problem = Problem::from(error);
            let view = ExecutionView::of(&execution.refreshed().await?)?;
            Ok(view.halted(problem.to_string()))
        }
    }
}
