//! Entities, the facts that connect them, and the graphs in which both are kept.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

/// An entity in texts, such as a person, a company or a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entity {
    /// The id, such as `person:ann lee`.
    pub id: String,
    /// The name.
    pub name: String,
    /// The kind, in one or two words, such as `person`.
    pub kind: String,
    /// The description in the text.
    pub summary: String,
    /// The texts that mention it.
    pub sources: Vec<String>,
}

/// A statement of a text about two entities.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// The id.
    pub id: String,
    /// The id of the entity that it is about.
    pub subject: String,
    /// The relation of the two, such as `works at`.
    pub relation: String,
    /// The id of the other entity.
    pub object: String,
    /// The fact as a sentence.
    pub text: String,
    /// The date since which it holds, if known: a year, a month or a day, such as `2024`, `2024-03`
    /// or `2024-03-01`.
    pub since: Option<String>,
    /// The date until which it held, if it has ended and that is known.
    pub until: Option<String>,
    /// The id of the fact that replaces it.
    pub replaced_by: Option<String>,
    /// The texts that state it.
    pub sources: Vec<String>,
}

impl fmt::Display for Fact {
    /// The sentence, with its dates and sources.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (", self.text)?;
        if let Some(since) = &self.since {
            write!(f, "since {since}; ")?;
        }
        match (&self.until, &self.replaced_by) {
            (Some(until), _) => write!(f, "until {until}; ")?,
            (None, Some(_)) => f.write_str("not true any more; ")?,
            (None, None) => {}
        }
        write!(f, "source: {})", self.sources.join(", "))
    }
}

/// A store of entities and facts: [`MemoryGraph`](super::MemoryGraph), `SqliteGraph`, or your own.
///
/// An `Arc<G>` is a graph too, even of a `dyn Graph`.
#[async_trait]
pub trait Graph: Send + Sync {
    /// The entities whose names are similar to the text or a part of it, at most `limit`. They are
    /// sorted by similarity, then by id.
    ///
    /// # Errors
    /// [`GraphError::Store`] if they cannot be read.
    ///
    /// # Cancel safety
    /// It changes nothing.
    async fn find(&self, text: &str, limit: usize) -> Result<Vec<Entity>, GraphError>;

    /// The entities with these ids, in the order of the ids. Missing ones are left out.
    ///
    /// # Errors
    /// [`GraphError::Store`] if they cannot be read.
    ///
    /// # Cancel safety
    /// It changes nothing.
    async fn entities(&self, ids: &[String]) -> Result<Vec<Entity>, GraphError>;

    /// The facts about these entities, as subject or object, at most `limit`. Facts that hold come
    /// first, then they are sorted by id.
    ///
    /// # Errors
    /// [`GraphError::Store`] if they cannot be read.
    ///
    /// # Cancel safety
    /// It changes nothing.
    async fn facts(&self, entities: &[String], limit: usize) -> Result<Vec<Fact>, GraphError>;

    /// Saves entities and facts, all or none. If the id exists, nonempty texts are replaced and
    /// sources are added. Dates and the replacing fact are kept where the new value has none. So
    /// saving is idempotent.
    ///
    /// # Errors
    /// [`GraphError::UnknownEntity`] if a fact is about an entity that is neither stored nor saved
    /// with it, and [`GraphError::Store`] if they cannot be written.
    ///
    /// # Cancel safety
    /// If it is dropped, everything may be saved or nothing.
    async fn save(&self, entities: &[Entity], facts: &[Fact]) -> Result<(), GraphError>;

    /// Removes a text from the sources. Entities and facts without a source are removed, with the
    /// facts about them. A fact that a removed one replaced holds again, and no longer ends when
    /// that one began. The descriptions of remaining entities stay as they were last stated.
    ///
    /// A concurrent [`Learn`](super::Learn) may have read the text already, and then saves it
    /// again.
    ///
    /// # Errors
    /// [`GraphError::Store`] if it cannot be written.
    ///
    /// # Cancel safety
    /// If it is dropped, the text may or may not be removed.
    async fn forget(&self, source: &str) -> Result<(), GraphError>;
}

#[async_trait]
impl<G: Graph + ?Sized> Graph for Arc<G> {
    async fn find(&self, text: &str, limit: usize) -> Result<Vec<Entity>, GraphError> {
        (**self).find(text, limit).await
    }

    async fn entities(&self, ids: &[String]) -> Result<Vec<Entity>, GraphError> {
        (**self).entities(ids).await
    }

    async fn facts(&self, entities: &[String], limit: usize) -> Result<Vec<Fact>, GraphError> {
        (**self).facts(entities, limit).await
    }

    async fn save(&self, entities: &[Entity], facts: &[Fact]) -> Result<(), GraphError> {
        (**self).save(entities, facts).await
    }

    async fn forget(&self, source: &str) -> Result<(), GraphError> {
        (**self).forget(source).await
    }
}

/// The reason why a graph cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// A fact is about an entity that is neither in the graph nor saved with it.
    #[error("the fact {fact:?} is about {entity:?}, which the graph does not have")]
    UnknownEntity {
        /// The id of the fact.
        fact: String,
        /// The id of the entity.
        entity: String,
    },
    /// The store of the graph failed.
    #[error("the graph cannot be read or written")]
    Store {
        /// The error.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl Entity {
    /// Merges a later statement about the same entity.
    pub(super) fn merge(&mut self, later: &Entity) {
        self.name.clone_from(&later.name);
        self.kind.clone_from(&later.kind);
        if !later.summary.trim().is_empty() {
            self.summary.clone_from(&later.summary);
        }
        merge_sources(&mut self.sources, &later.sources);
    }
}

impl Fact {
    /// Merges a later statement of the same fact.
    pub(super) fn merge(&mut self, later: &Fact) {
        let or = |known: &mut Option<String>, later: &Option<String>| {
            if later.is_some() {
                known.clone_from(later);
            }
        };
        self.subject.clone_from(&later.subject);
        self.relation.clone_from(&later.relation);
        self.object.clone_from(&later.object);
        self.text.clone_from(&later.text);
        or(&mut self.since, &later.since);
        or(&mut self.until, &later.until);
        or(&mut self.replaced_by, &later.replaced_by);
        merge_sources(&mut self.sources, &later.sources);
    }

    /// Returns true if no other fact replaces it.
    pub(super) fn holds(&self) -> bool {
        self.replaced_by.is_none()
    }
}

/// Sources in order, each once.
pub(super) fn merge_sources(sources: &mut Vec<String>, later: &[String]) {
    sources.extend_from_slice(later);
    sources.sort();
    sources.dedup();
}
