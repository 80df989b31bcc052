//! A request to a model, in a span if the feature `tracing` is on.

use futures_util::StreamExt as _;

#[cfg(feature = "tracing")]
use crate::about::AboutModel;
use crate::error::ModelError;
use crate::model::{Chunk, Model, Reply, Request};
use crate::reply_builder::ReplyBuilder;

/// Asks a model within the span `chat`, and passes each piece of text to `on_text`. The answer may
/// be incomplete.
pub(crate) async fn asked<M: Model + ?Sized>(
    model: &M,
    request: &Request,
    on_text: impl FnMut(&str) + Send,
) -> Result<Reply, ModelError> {
    let answer = answer(model, request, on_text);
    #[cfg(feature = "tracing")]
    let answer = in_span(model.about(), request, answer);
    answer.await
}

#[cfg(feature = "tracing")]
async fn in_span(
    about: AboutModel,
    request: &Request,
    answer: impl Future<Output = Result<Reply, ModelError>>,
) -> Result<Reply, ModelError> {
    use tracing::Instrument as _;
    use tracing::field::Empty;

    let known = |name: &'_ str| (!name.is_empty()).then(|| name.to_owned());
    let span = tracing::info_span!(
        "chat",
        "gen_ai.operation.name" = "chat",
        "gen_ai.provider.name" = known(&about.provider),
        "gen_ai.request.model" = known(&about.name),
        "gen_ai.request.temperature" = request.temperature,
        "gen_ai.request.max_tokens" = request.max_tokens,
        "gen_ai.usage.input_tokens" = Empty,
        "gen_ai.usage.output_tokens" = Empty,
    );
    let reply = answer.instrument(span.clone()).await?;
    span.record("gen_ai.usage.input_tokens", reply.usage.input_tokens);
    span.record("gen_ai.usage.output_tokens", reply.usage.output_tokens);
    Ok(reply)
}

async fn answer<M: Model + ?Sized>(
    model: &M,
    request: &Request,
    mut on_text: impl FnMut(&str) + Send,
) -> Result<Reply, ModelError> {
    let mut chunks = model.stream(request).await?;
    let mut reply = ReplyBuilder::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
        if let Chunk::Text(text) = &chunk {
            on_text(text);
        }
        let is_end = matches!(chunk, Chunk::End { .. });
        reply.push(chunk);
        if is_end {
            break; // the answer is complete, whatever the connection does next
        }
    }
    reply.finish()
}
