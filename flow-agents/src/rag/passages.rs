//! Passages of documents, and their stores.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::error::ModelError;

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// The document: a path, an address or any other unique name.
    pub source: String,
    /// The place among the passages of the document, from 0.
    pub place: usize,
    /// The text.
    pub text: String,
}

impl Passage {
    /// The id by which it is cited: `source#place`, such as `handbook.md#3`.
    pub fn id(&self) -> PassageId {
        PassageId {
            source: self.source.clone(),
            place: self.place,
        }
    }
}

/// The id by which a passage is cited. Its text is `source#place`, such as `handbook.md#3`. For
/// models, characters that would end a name in brackets are percent-encoded:
/// `Smith%2C J. report.pdf#0`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PassageId {
    /// The document.
    pub source: String,
    /// The place of the passage in it, from 0.
    pub place: usize,
}

impl fmt::Display for PassageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.source, self.place)
    }
}

/// A passage that is similar to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundPassage {
    /// The passage.
    pub passage: Passage,
    /// The similarity, from -1 to 1: the cosine of the angle between the two vectors.
    pub likeness: f32,
}

/// A store of passages with their vectors: [`MemoryPassages`](super::MemoryPassages),
/// `SqlitePassages`, or your own vector database.
///
/// An `Arc<P>` is a store too, even of a `dyn Passages`.
#[async_trait]
pub trait Passages: Send + Sync {
    /// Adds passages, each with its vector, all or none. It replaces an existing one with the same
    /// [id](Passage::id), so adding is idempotent.
    ///
    /// # Errors
    /// [`PassagesError::Vector`] if a vector has another length than the stored ones, or a number
    /// that is not finite, and [`PassagesError::Store`] if they cannot be written.
    ///
    /// # Cancel safety
    /// If it is dropped, all passages may be added or none.
    async fn add(&self, passages: &[(Passage, Vec<f32>)]) -> Result<(), PassagesError>;

    /// Removes the passages of a document from this place on. 0 removes all.
    ///
    /// # Errors
    /// [`PassagesError::Store`] if they cannot be removed.
    ///
    /// # Cancel safety
    /// If it is dropped, they may or may not be removed.
    async fn remove_from(&self, source: &str, place: usize) -> Result<(), PassagesError>;

    /// The passages whose vectors are most similar to this one, at most `limit`. They are sorted by
    /// similarity, then by id.
    ///
    /// # Errors
    /// [`PassagesError::Vector`] if the vector has another length than the stored ones, or a number
    /// that is not finite, and [`PassagesError::Store`] if they cannot be read.
    ///
    /// # Cancel safety
    /// It changes nothing.
    async fn nearest(
        &self,
        vector: &[f32],
        limit: usize,
    ) -> Result<Vec<FoundPassage>, PassagesError>;

    /// The passages with these ids, in the order of the ids. Missing ones are left out.
    ///
    /// # Errors
    /// [`PassagesError::Store`] if they cannot be read.
    ///
    /// # Cancel safety
    /// It changes nothing.
    async fn get(&self, ids: &[PassageId]) -> Result<Vec<Passage>, PassagesError>;
}

#[async_trait]
impl<P: Passages + ?Sized> Passages for Arc<P> {
    async fn add(&self, passages: &[(Passage, Vec<f32>)]) -> Result<(), PassagesError> {
        (**self).add(passages).await
    }

    async fn remove_from(&self, source: &str, place: usize) -> Result<(), PassagesError> {
        (**self).remove_from(source, place).await
    }

    async fn nearest(
        &self,
        vector: &[f32],
        limit: usize,
    ) -> Result<Vec<FoundPassage>, PassagesError> {
        (**self).nearest(vector, limit).await
    }

    async fn get(&self, ids: &[PassageId]) -> Result<Vec<Passage>, PassagesError> {
        (**self).get(ids).await
    }
}

/// The reason why passages cannot be kept or found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PassagesError {
    /// A vector that cannot be compared with the stored ones: they come from another embedding.
    #[error("a vector cannot be compared: {reason}")]
    Vector {
        /// The reason.
        reason: String,
    },
    /// The store of the passages failed.
    #[error("the passages cannot be read or written")]
    Store {
        /// The error.
        source: Box<dyn Error + Send + Sync>,
    },
}

/// The reason why a document cannot be indexed, or nothing can be found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RagError {
    /// The model or the embedding failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The passages cannot be kept or found.
    #[error(transparent)]
    Passages(#[from] PassagesError),
}

impl RagError {
    /// Returns true if another attempt may succeed: after a [`ModelError`] that is
    /// [transient](ModelError::is_transient).
    pub fn is_transient(&self) -> bool {
        matches!(self, RagError::Model(error) if error.is_transient())
    }
}

/// A vector of length 1 in the same direction, or 0 if it is 0.
///
/// # Errors
/// A number is not finite, or the length differs from that of earlier vectors.
pub(super) fn unit(vector: &[f32], expected: Option<usize>) -> Result<Vec<f32>, PassagesError> {
    let refused = |reason: String| PassagesError::Vector { reason };
    if let Some(expected) = expected.filter(|it| *it != vector.len()) {
        let found = vector.len();
        return Err(refused(format!(
            "it has {found} numbers, and those that are kept have {expected}"
        )));
    }
    let length = vector
        .iter()
        .map(|it| f64::from(*it).powi(2))
        .sum::<f64>()
        .sqrt();
    if !length.is_finite() {
        return Err(refused("it has a number that is not finite".to_owned()));
    }
    #[expect(clippy::cast_possible_truncation, reason = "numbers up to 1 in size")]
    let scaled = |it: &f32| {
        if length > 0.0 {
            (f64::from(*it) / length) as f32
        } else {
            0.0
        }
    };
    Ok(vector.iter().map(scaled).collect())
}

/// The cosine of the angle between two vectors of length 1.
pub(super) fn likeness(one: &[f32], other: impl Iterator<Item = f32>) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// The most similar, in order.
pub(super) fn likest<T: Ord>(mut found: Vec<(f32, T)>, limit: usize) -> Vec<(f32, T)> {
    let order = |one: &(f32, T), other: &(f32, T)| {
        other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1))
    };
    if limit < found.len() {
        found.select_nth_unstable_by(limit, order);
        found.truncate(limit);
    }
    found.sort_by(order);
    found
}
