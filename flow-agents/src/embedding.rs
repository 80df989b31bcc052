//! Models that turn texts into vectors, and a simple one for tests.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::about::AboutModel;
use crate::error::ModelError;
use crate::usage::Usage;

/// A model that turns texts into vectors. Vectors of similar texts point in similar directions.
///
/// References and `Arc`s to an embedding are embeddings too, also to a `dyn Embedding`.
#[async_trait]
pub trait Embedding: Send + Sync {
    /// The provider and name of the model, for spans, price tables and limits. Empty by default.
    fn about(&self) -> AboutModel {
        AboutModel::default()
    }

    /// Returns a vector for each text, in the order of the texts. All have the same length. Any
    /// number of texts is allowed, including none: the implementation handles its provider's limit.
    ///
    /// # Errors
    /// See [`ModelError`].
    ///
    /// # Cancel safety
    /// If the future is dropped, the vectors are lost; a provider may still count the tokens.
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
    /// The vector of each text, in the order of the texts.
    pub vectors: Vec<Vec<f32>>,
    /// The tokens that the request used.
    pub usage: Usage,
}

impl Embedded {
    /// Creates a result from vectors and their usage.
    pub fn new(vectors: Vec<Vec<f32>>, usage: Usage) -> Embedded {
        Embedded { vectors, usage }
    }
}

/// An embedding that counts words, for tests and examples: texts with the same words are near each
/// other, regardless of their meaning.
///
/// The vectors are the same on every machine and with every version of Rust. Each has the length 1,
/// or 0 if the text has no words. Letter case, spaces and punctuation are ignored. Two words may
/// share a dimension, which is rarer with more dimensions.
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
    /// Creates vectors with this many dimensions. 0 counts as 1.
    pub fn new(dimensions: usize) -> BagOfWords {
        let dimensions = dimensions.max(1);
        BagOfWords { dimensions }
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; self.dimensions];
        for word in words(text) {
            let hash = hash(&word);
            // Words that share a dimension then add up only half of the time.
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

/// The FNV-1a hash: those of the standard library may change between versions.
fn hash(word: &str) -> u64 {
    word.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
