//! Texts as vectors: what an embedding is, and one that needs no model.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::about::AboutModel;
use crate::error::ModelError;
use crate::usage::Usage;

/// A model that makes vectors of texts. Those of similar texts point in similar directions.
///
/// A reference to one is one too, and so is an `Arc`, also of a `dyn Embedding`.
#[async_trait]
pub trait Embedding: Send + Sync {
    /// Which model it is, for spans, price tables and limits. By default, nothing is known.
    fn about(&self) -> AboutModel {
        AboutModel::default()
    }

    /// Makes a vector of each text, in the order of the texts. All have the same length. There may
    /// be any number of texts, also none: a provider's limit is kept by its implementation.
    ///
    /// # Errors
    /// See [`ModelError`].
    ///
    /// # Cancel safety
    /// The vectors of a dropped request are lost; a provider may count its tokens all the same.
    async fn embed(&self, texts: &[String]) -> Result<Embedded, ModelError>;
}

#[async_trait]
impl<E: Embedding + ?Sized> Embedding for &E {
    fn about(&self) -> AboutModel {
        (**self).about()
    }

    async fn embed(&self, texts: &[String]) -> Result<Embedded, ModelError> {
        (**self).embed(texts).await
    }
}

#[async_trait]
impl<E: Embedding + ?Sized> Embedding for Arc<E> {
    fn about(&self) -> AboutModel {
        (**self).about()
    }

    async fn embed(&self, texts: &[String]) -> Result<Embedded, ModelError> {
        (**self).embed(texts).await
    }
}

/// Vectors of texts.
///
/// # Examples
/// ```
/// use flow_agents::{Embedded, Usage};
///
/// let embedded = Embedded::new(vec![vec![0.6, 0.8]], Usage::new(3, 0));
/// assert_eq!(embedded.vectors.len(), 1);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Embedded {
    /// A vector of each text, in the order of the texts.
    pub vectors: Vec<Vec<f32>>,
    /// What the request used.
    pub usage: Usage,
}

impl Embedded {
    /// These vectors, with what they used.
    pub fn new(vectors: Vec<Vec<f32>>, usage: Usage) -> Embedded {
        Embedded { vectors, usage }
    }
}

/// Vectors that count words, for tests and examples: texts with the same words are near each other,
/// whatever the words mean.
///
/// The vectors are the same on every machine and with every version of Rust. Each has the length 1,
/// or 0 if the text has no words. Letter case and what stands between words do not count. Two words
/// may fall on the same number, which is rarer with more of them.
///
/// # Examples
/// ```
/// use flow_agents::{BagOfWords, Embedding};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), flow_agents::ModelError> {
/// let texts = ["The cat sleeps.", "A cat sleeps", "Rates rose again"].map(str::to_owned);
/// let vectors = BagOfWords::new(256).embed(&texts).await?.vectors;
///
/// let near = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
/// assert!(near(&vectors[0], &vectors[1]) > near(&vectors[0], &vectors[2]));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct BagOfWords {
    dimensions: usize,
}

impl BagOfWords {
    /// Vectors of this many numbers. 0 counts as 1.
    pub fn new(dimensions: usize) -> BagOfWords {
        let dimensions = dimensions.max(1);
        BagOfWords { dimensions }
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; self.dimensions];
        for word in words(text) {
            let hash = hash(&word);
            // Words on the same number then add up half of the time only.
            let sign = if hash >> 63 == 0 { 1.0 } else { -1.0 };
            let dimensions = u64::try_from(self.dimensions).unwrap_or(u64::MAX);
            let place = usize::try_from(hash % dimensions).unwrap_or_default();
            vector[place] += sign;
        }
        let length = vector.iter().map(|it| it * it).sum::<f32>().sqrt();
        if length > 0.0 {
            vector.iter_mut().for_each(|it| *it /= length);
        }
        vector
    }
}

#[async_trait]
impl Embedding for BagOfWords {
    fn about(&self) -> AboutModel {
        AboutModel::new("", "bag-of-words")
    }

    async fn embed(&self, texts: &[String]) -> Result<Embedded, ModelError> {
        let vectors = texts.iter().map(|text| self.vector(text)).collect();
        let count: usize = texts.iter().map(|text| words(text).count()).sum();
        let usage = Usage::new(u64::try_from(count).unwrap_or(u64::MAX), 0);
        Ok(Embedded { vectors, usage })
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// FNV-1a, since the hashes of the standard library may change with its version.
fn hash(word: &str) -> u64 {
    word.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
