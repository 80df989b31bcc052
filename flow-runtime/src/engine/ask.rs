//! Questions to whoever the options of a run name.

use std::fmt::Display;

use serde_json::Value;

use crate::error::{BoxError, Failed, FlowError};
use crate::external::ExternalType;
use crate::node_error::{Failure, TimedOut};
use crate::observer::EventKind;
use crate::question::Question;
use crate::run::Run;
use crate::visit::Visit;

/// Asks whoever a run's options name: [`RunOptions::answer`](crate::RunOptions::answer).
///
/// # Errors
///
/// [`FlowError::Unanswered`] if nobody can be asked, or if the answer is of another type;
/// [`FlowError::Node`] if it does not come in time.
pub async fn ask(
    run: &Run,
    visit: Visit<'_>,
    question: ExternalType,
    prompt: String,
) -> Result<Value, Failed> {
    let timeout = visit.timeout();
    let question = Question {
        path: visit.frame().path().to_string(),
        prompt,
        timeout,
        kind: question,
    };
    let unanswered = |error: BoxError| unanswered(&visit, error);
    let answerer = run.options().and_then(|options| options.answer.clone());
    let Some(answerer) = answerer else {
        return Err(unanswered("there is nobody to ask".into()));
    };
    let answer = match timeout {
        None => answerer.answer(&question).await,
        Some(after) => match tokio::time::timeout(after, answerer.answer(&question)).await {
            Ok(answer) => answer,
            Err(_) => {
                let failure = Failure::Deadline(TimedOut { after });
                let error = visit.attempts().exhausted(failure);
                visit.emit(EventKind::NodeFailed { error: &error });
                return Err(error.into());
            }
        },
    };
    let answer = answer.map_err(unanswered)?;
    match question.kind.check(&answer) {
        Ok(()) => Ok(answer),
        Err(error) => Err(of_another_type(&visit, &error)),
    }
}

/// The error of a question whose answer is not of its type.
pub(super) fn of_another_type(visit: &Visit<'_>, error: &impl Display) -> Failed {
    let error = format!("the answer is of another type: {error}");
    unanswered(visit, error.into())
}

fn unanswered(visit: &Visit<'_>, error: BoxError) -> Failed {
    let path = visit.frame().path().to_string();
    Box::new(FlowError::Unanswered { path, error })
}
