//! Embeddings of real providers.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::told;
use super::provider::Protocol;
use super::{GenAi, failure, whole};
use crate::about::AboutModel;
use crate::embedding::{Embedded, Embedding};
use crate::error::ModelError;
use crate::model::Model;
use crate::usage::Usage;

/// The most texts of one request: the least that any of the providers allows.
const BATCH: usize = 100;

/// Texts are sent in groups of 100, one after the other. A failure of one group is one of the whole.
/// Gemini does not say how many tokens it used.
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
        let body = whole::json(answer, "embeddings", self.max_bytes).await?;
        let (vectors, usage) = match self.provider.protocol {
            Protocol::Gemini => (gemini_vectors(body)?, None),
            _ => chat_vectors(body)?,
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
            // An empty text is refused with an error that says something else.
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
fn chat_vectors(body: Value) -> Result<(Vec<Vec<f32>>, Option<Usage>), ModelError> {
    let ChatVectors { mut data, usage } =
        serde_json::from_value(body).map_err(failure::unreadable)?;
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

fn gemini_vectors(body: Value) -> Result<Vec<Vec<f32>>, ModelError> {
    let vectors: GeminiVectors = serde_json::from_value(body).map_err(failure::unreadable)?;
    Ok(vectors.embeddings.into_iter().map(|it| it.values).collect())
}
