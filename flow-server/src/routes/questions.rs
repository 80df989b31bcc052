//! Questions of flows to people.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use flow_durable::{ListOptions, OpenQuestion, Status};
use serde::Deserialize;
use utoipa::IntoParams;

use super::extract::{AnyBody, Id, Params, QuestionToken, execution_id, page_size};
use crate::access::Caller;
use crate::app::App;
use crate::problem::Problem;
use crate::views::{ExecutionView, ProblemView, QuestionView, QuestionsView};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct ListParams {
    /// Only questions of this flow.
    flow: Option<String>,
    /// Only questions of executions older than this one: the `next` of the previous page.
    #[param(format = "uuid")]
    before: Option<String>,
    /// The maximum number of executions: 100 by default, at most 1000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// A signed link, in place of a token.
    #[serde(rename = "link")]
    #[param(ignore)]
    _link: Option<String>,
}

/// The open questions of the executions that wait for people, the newest execution first
///
/// With a signed link, only the questions that it is for.
#[utoipa::path(get, path = "/questions", operation_id = "list_questions", tag = "questions", params(ListParams), responses(
    (status = 200, description = "The questions", body = QuestionsView),
    (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
))]
pub(super) async fn list(
    caller: Caller,
    Params(params): Params<ListParams>,
) -> Result<Json<QuestionsView>, Problem> {
    let limit = page_size(params.limit)?;
    if let Some(id) = caller.linked() {
        let questions = caller.questions(id).await?;
        let questions = questions.iter().map(QuestionView::of).collect();
        return Ok(Json(QuestionsView {
            questions,
            next: None,
        }));
    }
    // Without a flow, the list contains the parts of loops themselves.
    let with_parts = params.flow.is_some();
    let mut options = ListOptions::new().status(Status::Paused).limit(limit);
    options = match params.flow {
        Some(flow) => options.flow(flow),
        None => options.asks(true),
    };
    if let Some(before) = params.before {
        options = options.before(execution_id(&before)?);
    }
    let paused = caller.executions()?.list(options).await?;
    let mut questions = Vec::new();
    for execution in &paused {
        match execution.questions().await {
            Ok(open) => {
                let own = |question: &&OpenQuestion| question.execution() == execution.id();
                let open = open.iter().filter(|question| with_parts || own(question));
                questions.extend(open.map(QuestionView::of));
            }
            // It was just removed.
            Err(flow_durable::RuntimeError::NotFound(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let next = paused.next_page().map(|id| id.to_string());
    Ok(Json(QuestionsView { questions, next }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkParams {
    /// A signed link, in place of a token.
    #[serde(rename = "link")]
    #[param(ignore)]
    _link: Option<String>,
}

/// The open questions of an execution, in the order asked
#[utoipa::path(get, path = "/executions/{id}/questions", operation_id = "list_questions_of_execution", tag = "questions",
    params(("id" = String, Path, format = "uuid", description = "The id of the execution"), LinkParams),
    responses(
        (status = 200, description = "The questions", body = QuestionsView),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn of_execution(
    caller: Caller,
    Id(id): Id,
    Params(_): Params<LinkParams>,
) -> Result<Json<QuestionsView>, Problem> {
    let questions = caller.questions(id).await?;
    let questions = questions.iter().map(QuestionView::of).collect();
    Ok(Json(QuestionsView {
        questions,
        next: None,
    }))
}

/// A question
#[utoipa::path(get, path = "/questions/{token}", operation_id = "get_question", tag = "questions",
    params(("token" = String, Path, format = "uuid", description = "The token of the question"), LinkParams),
    responses(
        (status = 200, description = "The question", body = QuestionView),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn get(
    caller: Caller,
    QuestionToken(token): QuestionToken,
    Params(_): Params<LinkParams>,
) -> Result<Json<QuestionView>, Problem> {
    Ok(Json(QuestionView::of(&caller.question(token).await?)))
}

/// Answer a question
///
/// The body is the answer. It is checked against its type, or against the schema of the question if
/// the flow is not registered in this server. A refused answer changes nothing.
#[utoipa::path(post, path = "/questions/{token}/answer", operation_id = "answer_question", tag = "questions",
    params(("token" = String, Path, format = "uuid", description = "The token of the question"), LinkParams),
    request_body = Value,
    responses(
        (status = 200, description = "The execution", body = ExecutionView),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn answer(
    State(app): State<Arc<App>>,
    caller: Caller,
    QuestionToken(token): QuestionToken,
    Params(_): Params<LinkParams>,
    AnyBody(answer): AnyBody,
) -> Result<Json<ExecutionView>, Problem> {
    caller.question(token).await?;
    let execution = caller.answering().resume(token, answer).await?;
    app.metrics().answered();
    if caller.sees_only_questions() {
        return Ok(Json(ExecutionView::listed(&execution)));
    }
    Ok(Json(ExecutionView::of(&execution)?))
}
