//! Asks whoever the options of a run name.

use crate::error::{BoxError, Failed, FlowError};
use crate::node_error::{Failure, TimedOut};
use crate::observer::EventKind;
use crate::question::answer::{Human, Question, QuestionType};
use crate::run::Run;
use crate::visit::Visit;

/// Asks whoever the options of a run name: [`RunOptions::answer`](crate::RunOptions::answer).
///
/// # Errors
///
/// [`FlowError::Unanswered`] if there is nobody to ask, or if the answer is not of the type;
/// [`FlowError::Node`] if there is none in time.
pub async fn ask<N: Human>(run: &Run, visit: Visit<'_>, prompt: String) -> Result<N, Failed> {
    let timeout = visit.timeout();
    let question = Question {
        path: visit.frame().path().to_string(),
        prompt,
        timeout,
        kind: QuestionType::of::<N>(),
    };
    let unanswered = |error: BoxError| {
        let path = question.path.clone();
        Box::new(FlowError::Unanswered { path, error })
    };
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
    N::from_json(answer)
        .map_err(|error| unanswered(format!("the answer is of another type: {error}").into()))
}
