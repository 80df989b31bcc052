//! Embeddings of real providers.

use async_trait::async_trait;
use genai::embed::{EmbedOptions, EmbedResponse};

use super::{GenAi, failure, reply};
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
            Some(found) => Err(malformed(format!(
                "an embedding has {found} numbers, where {} were expected",
                expected.unwrap_or_default()
            ))),
        }
    }
}

impl GenAi {
    async fn embed_batch(&self, texts: &[String]) -> Result<(Vec<Vec<f32>>, Usage), ModelError> {
        let mut options = EmbedOptions::new().with_capture_usage(true);
        options.dimensions = self.dimensions;
        let target = self.target()?;
        let answer = self
            .client
            .embed_batch(target, texts.to_vec(), Some(&options))
            .await;
        let EmbedResponse {
            mut embeddings,
            usage,
            ..
        } = answer.map_err(failure::sort)?;
        embeddings.sort_by_key(|it| it.index);
        let in_order = embeddings.iter().map(|it| it.index).eq(0..texts.len());
        if !in_order {
            return Err(malformed(format!(
                "there are {} embeddings of {} texts",
                embeddings.len(),
                texts.len()
            )));
        }
        let vectors = embeddings.into_iter().map(|it| it.vector);
        let usage = reply::told(reply::usage(&usage));
        Ok((vectors.collect(), usage))
    }
}

fn malformed(why: String) -> ModelError {
    ModelError::Malformed { source: why.into() }
}
