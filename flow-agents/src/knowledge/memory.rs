//! A graph in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use super::graph::{Entity, Fact, Graph, GraphError, merge_sources};
use super::names::{grams, likeness, number};

/// A [`Graph`] in memory, for tests and for data that need not survive the process. A search looks
/// at all entities.
///
/// # Examples
/// ```
/// use flow_agents::knowledge::{Entity, Graph, MemoryGraph};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), flow_agents::knowledge::GraphError> {
/// let graph = MemoryGraph::new();
/// let ann = Entity {
///     id: "person:ann lee".into(),
///     name: "Ann Lee".into(),
///     kind: "person".into(),
///     summary: "She builds bridges.".into(),
///     sources: vec!["bridges.md".into()],
/// };
/// graph.save(std::slice::from_ref(&ann), &[]).await?;
/// assert_eq!(graph.find("What does Ann do?", 3).await?, [ann]);
/// graph.forget("bridges.md").await?;
/// assert_eq!(graph.find("What does Ann do?", 3).await?, []);
/// # Ok(()) }
/// ```
#[derive(Debug, Default)]
pub struct MemoryGraph {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    entities: BTreeMap<String, Entity>,
    facts: BTreeMap<String, Fact>,
}

impl MemoryGraph {
    /// Creates an empty graph.
    pub fn new() -> MemoryGraph {
        MemoryGraph::default()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Graph for MemoryGraph {
    async fn find(&self, text: &str, limit: usize) -> Result<Vec<Entity>, GraphError> {
        let wanted = grams(text);
        let known = self.known();
        let mut found: Vec<(f64, &Entity)> = Vec::new();
        for entity in known.entities.values() {
            let of_entity = grams(&entity.name);
            let shared = number(of_entity.intersection(&wanted));
            let likeness = likeness(shared, number(&of_entity), number(&wanted));
            found.extend(likeness.map(|likeness| (likeness, entity)));
        }
        found.sort_by(|one, other| other.0.total_cmp(&one.0)); // ids are in order already
        let found = found.into_iter().take(limit);
        Ok(found.map(|(_, entity)| entity.clone()).collect())
    }

    async fn entities(&self, ids: &[String]) -> Result<Vec<Entity>, GraphError> {
        let known = self.known();
        let found = ids.iter().filter_map(|id| known.entities.get(id));
        Ok(found.cloned().collect())
    }

    async fn facts(&self, entities: &[String], limit: usize) -> Result<Vec<Fact>, GraphError> {
        let known = self.known();
        let about = known
            .facts
            .values()
            .filter(|fact| entities.contains(&fact.subject) || entities.contains(&fact.object));
        let (holding, replaced): (Vec<&Fact>, Vec<&Fact>) = about.partition(|fact| fact.holds());
        let found = holding.into_iter().chain(replaced).take(limit);
        Ok(found.cloned().collect())
    }

    async fn save(&self, entities: &[Entity], facts: &[Fact]) -> Result<(), GraphError> {
        let mut known = self.known();
        for fact in facts {
            for id in [&fact.subject, &fact.object] {
                let is_known =
                    known.entities.contains_key(id) || entities.iter().any(|it| it.id == *id);
                if !is_known {
                    return Err(GraphError::UnknownEntity {
                        fact: fact.id.clone(),
                        entity: id.clone(),
                    });
                }
            }
        }
        for entity in entities {
            let kept = known.entities.entry(entity.id.clone());
            kept.or_insert_with(|| entity.clone()).merge(entity);
        }
        for fact in facts {
            let kept = known.facts.entry(fact.id.clone());
            kept.or_insert_with(|| fact.clone()).merge(fact);
        }
        Ok(())
    }

    async fn forget(&self, source: &str) -> Result<(), GraphError> {
        let mut known = self.known();
        let Known { entities, facts } = &mut *known;
        let is_left = |sources: &mut Vec<String>| {
            let before = sources.len();
            sources.retain(|it| it != source);
            merge_sources(sources, &[]);
            before == sources.len() || !sources.is_empty()
        };
        let ended = ended(facts);
        entities.retain(|_, entity| is_left(&mut entity.sources));
        facts.retain(|_, fact| {
            let is_about_known =
                entities.contains_key(&fact.subject) && entities.contains_key(&fact.object);
            is_left(&mut fact.sources) && is_about_known
        });
        let left: Vec<String> = facts.keys().cloned().collect();
        for fact in facts.values_mut() {
            let is_gone = |id: &String| left.binary_search(id).is_err();
            if fact.replaced_by.as_ref().is_some_and(is_gone) {
                fact.replaced_by = None;
                if ended.contains(&fact.id) {
                    fact.until = None;
                }
            }
        }
        Ok(())
    }
}

/// The ids of the facts that ended when the replacing fact began.
fn ended(facts: &BTreeMap<String, Fact>) -> BTreeSet<String> {
    let has_ended = |fact: &&Fact| {
        let other = fact.replaced_by.as_ref().and_then(|other| facts.get(other));
        fact.until.is_some() && other.is_some_and(|other| other.since == fact.until)
    };
    let ended = facts.values().filter(has_ended);
    ended.map(|fact| fact.id.clone()).collect()
}
