//! What is known: entities, the facts that connect them, and where both are kept.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

/// Something that texts tell about, such as a person, a company or a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entity {
    /// Its id, such as `person:ann lee`.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is, in one or two words, such as `person`.
    pub kind: String,
    /// What the text says that it is.
    pub summary: String,
    /// The texts that tell about it.
    pub sources: Vec<String>,
}

/// Something that a text says about two entities.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// Its id.
    pub id: String,
    /// The id of the entity that it is about.
    pub subject: String,
    /// How the two are connected, such as `works at`.
    pub relation: String,
    /// The id of the other entity.
    pub object: String,
    /// The fact as a sentence.
    pub text: String,
    /// Since when it holds, if that is known: a year, a month or a day, such as `2024`, `2024-03` or
    /// `2024-03-01`.
    pub since: Option<String>,
    /// Until when it held, if it has ended and that is known.
    pub until: Option<String>,
    /// The id of the fact that holds instead of it.
    pub replaced_by: Option<String>,
    /// The texts that say so.
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

/// Where entities and facts are kept: [`MemoryGraph`](super::MemoryGraph), `SqliteGraph`, or one of your
/// own.
///
/// An `Arc<G>` of one is one too, also of a `dyn Graph`.
#[async_trait]
pub trait Graph: Send + Sync {
    /// The entities whose names resemble the text or a part of it, those that resemble it most first,
    /// then in the order of their ids: at most `limit`.
    ///
    /// # Errors
    /// [`GraphError::Store`] if they cannot be read.
    ///
    /// # Cancel safety
    /// Nothing is changed.
    async fn find(&self, text: &str, limit: usize) -> Result<Vec<Entity>, GraphError>;

    /// The entities with these ids, in the order of the ids. Those that there are not are left out.
    ///
    /// # Errors
    /// [`GraphError::Store`] if they cannot be read.
    ///
    /// # Cancel safety
    /// Nothing is changed.
    async fn entities(&self, ids: &[String]) -> Result<Vec<Entity>, GraphError>;

    /// The facts about these entities, as subject or object: those that hold first, then in the order of
    /// their ids, at most `limit`.
    ///
    /// # Errors
    /// [`GraphError::Store`] if they cannot be read.
    ///
    /// # Cancel safety
    /// Nothing is changed.
    async fn facts(&self, entities: &[String], limit: usize) -> Result<Vec<Fact>, GraphError>;

    /// Keeps entities and facts, all or none. Of what is there already, by its id, the texts are
    /// replaced, but not by an empty one; sources are added; and dates and the fact that holds instead stay where the new value
    /// has none. So the same can be saved again.
    ///
    /// # Errors
    /// [`GraphError::UnknownEntity`] if a fact is about an entity that is neither there nor among those
    /// that are saved, and [`GraphError::Store`] if they cannot be written.
    ///
    /// # Cancel safety
    /// If it is dropped, all may be saved or nothing.
    async fn save(&self, entities: &[Entity], facts: &[Fact]) -> Result<(), GraphError>;

    /// Forgets what a text said: it is taken from the sources, and what has no source left is removed, with
    /// the facts about it. A fact that was replaced by a removed one holds again, and does not end any more when
    /// that one began. What an entity is, as texts that are left say it too, stays as it was told last.
    ///
    /// A [`Learn`](super::Learn) that is under way may have read what the text said, and saves it again.
    ///
    /// # Errors
    /// [`GraphError::Store`] if it cannot be written.
    ///
    /// # Cancel safety
    /// If it is dropped, the text may be forgotten or not.
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

/// Why a graph cannot be read or written.
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
        /// What went wrong.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl Entity {
    /// Takes over what is said of the same entity later.
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
    /// Takes over what is said of the same fact later.
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

    /// Whether no other fact holds instead of it.
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
