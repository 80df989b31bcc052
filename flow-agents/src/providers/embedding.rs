//! Embeddings of real providers.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::told;
use super::provider::Protocol;
use super::{GenAi, failure, post, whole};
use crate::about::AboutModel;
use crate::embedding::{Embedded, Embedding};
use crate::error::ModelError;
use crate::model::Model;
use crate::usage::Usage;

/// The maximum number of texts in a request: the smallest limit of all providers.
const BATCH: usize = 100;

/// Sends texts in groups of 100, one after the other. If one group fails, the whole request fails.
/// Gemini does not report the number of tokens that it used.
#[async_trait]
impl Embedding for GenAi {
    fn about(&self) -> AboutModel {
        Model::about(self)
    }

    async fn embed(&self, texts: &[String]) -> Result<Embedded, ModelError> {
        let mut embedded = Embedded::default();
        for texts in texts.chunks(BATCH) {
            let (vectors, usage) = self.embed_batch(texts).await?;
            embedded.vectors.extend(vectors);
            embedded.usage += usage;
        }
        let expected = self.dimensions.or(embedded.vectors.first().map(Vec::len));
        match embedded
            .vectors
            .iter()
            .map(Vec::len)
            .find(|it| Some(*it) != expected || *it == 0)
        {
            None => Ok(embedded),
            Some(found) => Err(failure::malformed(format!(
                "an embedding has {found} numbers, where {} were expected",
                expected.unwrap_or_default()
            ))),
        }
    }
}

impl GenAi {
    async fn embed_batch(&self, texts: &[String]) -> Result<(Vec<Vec<f32>>, Usage), ModelError> {
        let (path, body) = match self.provider.protocol {
            Protocol::Chat => ("embeddings".to_owned(), self.chat_body(texts)),
            Protocol::Gemini => {
                let path = format!("models/{}:batchEmbedContents", self.name);
                (path, self.gemini_body(texts))
            }
            Protocol::Responses | Protocol::Messages => {
                let why = format!("{} has no embeddings", self.provider.name);
                return Err(failure::refused(why));
            }
        };
        let answer = self.post(&path, &body).await?;
        let content_type = post::content_type(&answer);
        let body = whole::bytes(answer, self.max_bytes).await?;
        // An unexpected body may contain an error.
        let unread = |_| match serde_json::from_slice(&body)
            .ok()
            .as_ref()
            .and_then(failure::told)
        {
            Some(told) => told,
            None => {
                failure::not_spoken("embeddings", &content_type, &String::from_utf8_lossy(&body))
            }
        };
        let (vectors, usage) = match self.provider.protocol {
            Protocol::Gemini => {
                let read = serde_json::from_slice(&body).map_err(unread)?;
                (gemini_vectors(read), None)
            }
            _ => chat_vectors(serde_json::from_slice(&body).map_err(unread)?)?,
        };
        if vectors.len() != texts.len() {
            return Err(failure::malformed(format!(
                "there are {} embeddings of {} texts",
                vectors.len(),
                texts.len()
            )));
        }
        Ok((vectors, told(usage)))
    }

    fn chat_body(&self, texts: &[String]) -> Value {
        let mut body = json!({ "model": self.name, "input": texts });
        if let Some(dimensions) = self.dimensions {
            body["dimensions"] = json!(dimensions);
        }
        body
    }

    fn gemini_body(&self, texts: &[String]) -> Value {
        let requests = texts.iter().map(|text| {
            // Gemini refuses an empty text with a misleading error.
            let text = if text.trim().is_empty() { " " } else { text };
            let mut request = json!({
                "model": format!("models/{}", self.name),
                "content": { "parts": [{ "text": text }] },
                "taskType": "SEMANTIC_SIMILARITY",
            });
            if let Some(dimensions) = self.dimensions {
                request["outputDimensionality"] = json!(dimensions);
            }
            request
        });
        json!({ "requests": requests.collect::<Vec<_>>() })
    }
}

#[derive(Deserialize)]
struct ChatVectors {
    data: Vec<ChatVector>,
    #[serde(default)]
    usage: Option<ChatTokens>,
}

#[derive(Deserialize)]
struct ChatVector {
    index: usize,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct ChatTokens {
    #[serde(default)]
    prompt_tokens: u64,
}

/// The vectors in the order of their texts.
fn chat_vectors(
    ChatVectors { mut data, usage }: ChatVectors,
) -> Result<(Vec<Vec<f32>>, Option<Usage>), ModelError> {
    data.sort_by_key(|it| it.index);
    if !data.iter().map(|it| it.index).eq(0..data.len()) {
        return Err(failure::malformed(
            "an embedding is missing, or there twice",
        ));
    }
    let vectors = data.into_iter().map(|it| it.embedding).collect();
    let usage = usage.map(|it| Usage::new(it.prompt_tokens, 0));
    Ok((vectors, usage))
}

#[derive(Deserialize)]
struct GeminiVectors {
    embeddings: Vec<GeminiVector>,
}

#[derive(Deserialize)]
struct GeminiVector {
    values: Vec<f32>,
}

fn gemini_vectors(vectors: GeminiVectors) -> Vec<Vec<f32>> {
    vectors.embeddings.into_iter().map(|it| it.values).collect()
}
