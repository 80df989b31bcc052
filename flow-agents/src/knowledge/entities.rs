//! Finds the entities of a text, and matches them with known ones.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use flow_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::graph::{Entity, Graph, GraphError, merge_sources};
use super::names::plain;
use crate::ask::ask;
use crate::ask::error::AskError;
use crate::message::Message;
use crate::messages::Messages;
use crate::model::Model;

/// The maximum number of known candidates for each entity of a text.
const CANDIDATES: usize = 5;

const FIND: &str = "Find the entities that the text is about: people, organisations, places, products, \
    works, events and other things with a name of their own. Leave out dates, amounts and general terms. \
    Name each entity once, by its fullest name in the text.";

const RESOLVE: &str = "Some entities of a text may be known already, under the same name or another one. \
    Say of each entity of the text which of its candidates it is, by the id of the candidate. It is a \
    candidate only if both are the same thing in the world, and not if they are merely alike. Leave the \
    entities out that are none of their candidates.";

/// An entity that a text names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mention {
    /// The name.
    pub name: String,
    /// The kind, in one or two words in lowercase, such as `person` or `company`.
    pub kind: String,
    /// The description in the text, in one sentence. Empty if there is none.
    pub summary: String,
}

/// The result of a search for entities.
#[derive(Debug, Clone, PartialEq, Action, Serialize, Deserialize)]
pub enum FoundEntities {
    /// The text names entities.
    Found {
        /// The entities, each once.
        mentions: Vec<Mention>,
    },
    /// The text names no entities.
    Nothing,
}

/// A node that asks a model for the entities of a text. It reads `text`, and takes the action
/// `"found"` with `mentions`, or `"nothing"`.
#[derive(Clone)]
pub struct FindEntities {
    model: Arc<dyn Model>,
}

impl FindEntities {
    /// Creates a node that asks this model.
    pub fn new(model: impl Model + 'static) -> FindEntities {
        FindEntities {
            model: Arc::new(model),
        }
    }
}

#[node(actions = FoundEntities)]
impl FindEntities {
    async fn exec(&self, text: &str) -> Result<FoundEntities, AskError> {
        let question = Messages::from_iter([Message::system(FIND), Message::user(text)]);
        let mut mentions: Vec<Mention> = Vec::new();
        for mention in ask::<Vec<Mention>>(&self.model, &question).await? {
            let (name, kind) = (plain(&mention.name), plain(&mention.kind));
            let is_same =
                |it: &Mention| (plain(&it.name), plain(&it.kind)) == (name.clone(), kind.clone());
            if !name.is_empty() && !mentions.iter().any(is_same) {
                mentions.push(mention);
            }
        }
        Ok(if mentions.is_empty() {
            FoundEntities::Nothing
        } else {
            FoundEntities::Found { mentions }
        })
    }
}

/// A node that looks up the candidates for the entities of a text. It reads `mentions`, and writes
/// `candidates`, the known entities with similar names.
#[derive(Clone)]
pub struct LoadEntities {
    graph: Arc<dyn Graph>,
}

impl LoadEntities {
    /// Creates a node that searches this graph.
    pub fn new(graph: impl Graph + 'static) -> LoadEntities {
        LoadEntities {
            graph: Arc::new(graph),
        }
    }
}

#[node(writes = candidates)]
impl LoadEntities {
    async fn exec(&self, mentions: &[Mention]) -> Result<Vec<Vec<Entity>>, GraphError> {
        let mut candidates = Vec::with_capacity(mentions.len());
        for mention in mentions {
            let mut similar = self.graph.find(&mention.name, CANDIDATES).await?;
            // Many names may be similar, so the same name and kind is looked up separately.
            let same = self.graph.entities(&[id_of(mention)]).await?;
            similar.retain(|it| !same.contains(it));
            candidates.push(same.into_iter().chain(similar).take(CANDIDATES).collect());
        }
        Ok(candidates)
    }
}

/// An entity, and its name in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// The name in the text.
    pub name: String,
    /// The id of the entity.
    pub entity: String,
}

/// A node that identifies the entities of a text. It reads `mentions`, `candidates` and `source`,
/// and writes `entities` and `names`, the entity for each name.
///
/// An entity of the same name and kind is the same. If others have similar names, a model is asked
/// whether they are the same, once for all entities. The id of an unknown one is made from its kind
/// and name.
#[derive(Clone)]
pub struct ResolveEntities {
    model: Arc<dyn Model>,
}

impl ResolveEntities {
    /// Creates a node that asks this model.
    pub fn new(model: impl Model + 'static) -> ResolveEntities {
        ResolveEntities {
            model: Arc::new(model),
        }
    }
}

/// An entity of a text that is known already.
#[derive(Deserialize, JsonSchema)]
struct Same {
    /// The number of the entity in the text.
    entity: usize,
    /// The id of the candidate that it is.
    is: String,
}

#[node(writes(entities, names))]
impl ResolveEntities {
    async fn exec(
        &self,
        mentions: &[Mention],
        candidates: &[Vec<Entity>],
        source: &str,
    ) -> Result<(Vec<Entity>, Vec<Named>), AskError> {
        let mut known: BTreeMap<usize, &Entity> = BTreeMap::new();
        let mut unclear = Vec::new();
        for (at, (mention, candidates)) in mentions.iter().zip(candidates).enumerate() {
            let id = id_of(mention);
            if let Some(same) = candidates.iter().find(|it| it.id == id) {
                known.insert(at, same);
            } else if !candidates.is_empty() {
                unclear.push(at);
            }
        }
        if !unclear.is_empty() {
            let question = Messages::from_iter([
                Message::system(RESOLVE),
                Message::user(shown(mentions, candidates, &unclear)),
            ]);
            for same in ask::<Vec<Same>>(&self.model, &question).await? {
                let Some(at) = same.entity.checked_sub(1).filter(|it| unclear.contains(it)) else {
                    continue;
                };
                let candidate = candidates[at].iter().find(|it| it.id == same.is);
                known.extend(candidate.map(|candidate| (at, candidate)));
            }
        }
        let mut entities: BTreeMap<String, Entity> = BTreeMap::new();
        let mut names = Vec::new();
        for (at, mention) in mentions.iter().enumerate() {
            let entity = match known.get(&at) {
                Some(known) => (*known).clone(),
                None => new_entity(mention),
            };
            names.push(Named {
                name: mention.name.clone(),
                entity: entity.id.clone(),
            });
            let kept = entities.entry(entity.id.clone()).or_insert(entity);
            if kept.summary.trim().is_empty() {
                kept.summary.clone_from(&mention.summary);
            }
            merge_sources(&mut kept.sources, &[source.to_owned()]);
        }
        Ok((entities.into_values().collect(), names))
    }
}

fn id_of(mention: &Mention) -> String {
    format!("{}:{}", plain(&mention.kind), plain(&mention.name))
}

fn new_entity(mention: &Mention) -> Entity {
    Entity {
        id: id_of(mention),
        name: mention.name.trim().to_owned(),
        kind: plain(&mention.kind),
        summary: mention.summary.trim().to_owned(),
        sources: Vec::new(),
    }
}

/// The entities that may or may not be known, as a model reads them.
fn shown(mentions: &[Mention], candidates: &[Vec<Entity>], unclear: &[usize]) -> String {
    let mut shown = String::new();
    for &at in unclear {
        let Mention {
            name,
            kind,
            summary,
        } = &mentions[at];
        let _ = writeln!(shown, "{}. {name} ({kind}): {summary}", at + 1);
        for Entity {
            id,
            name,
            kind,
            summary,
            ..
        } in &candidates[at]
        {
            let _ = writeln!(shown, "   candidate {id}: {name} ({kind}): {summary}");
        }
    }
    shown
}
