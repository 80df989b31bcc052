//! Looks up the knowledge about a question.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

use super::graph::{Entity, Fact, Graph, GraphError};
use crate::messages::{Messages, Placement};

/// A node that looks up the knowledge about a question. It reads `question`, and writes `recalled`.
/// An agent can use it as a tool (`tools![Recall = recall]`).
///
/// It takes the facts about the entities that the question names. With more
/// [levels](Recall::levels), also those about the entities that these lead to, and so on.
#[derive(Clone)]
pub struct Recall {
    graph: Arc<dyn Graph>,
    levels: u32,
    entities: usize,
    facts: usize,
    history: bool,
}

impl Recall {
    /// Creates a node that looks up 10 entities and 50 facts about them in this graph.
    pub fn new(graph: impl Graph + 'static) -> Recall {
        Recall {
            graph: Arc::new(graph),
            levels: 1,
            entities: 10,
            facts: 50,
            history: false,
        }
    }

    /// Sets the maximum number of facts between an entity of the question and a result. The default
    /// is 1. With 0, no facts are looked up.
    pub fn levels(mut self, levels: u32) -> Recall {
        self.levels = levels;
        self
    }

    /// Sets the maximum number of entities of a question.
    pub fn entities(mut self, entities: usize) -> Recall {
        self.entities = entities;
        self
    }

    /// Sets the maximum number of facts in all.
    pub fn facts(mut self, facts: usize) -> Recall {
        self.facts = facts;
        self
    }

    /// Includes facts that are no longer true.
    pub fn history(mut self) -> Recall {
        self.history = true;
        self
    }
}

/// The knowledge about a question. Its text has a line for each entity and each fact.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recalled {
    /// The entities that the question names, the most similar names first, followed by those that
    /// facts lead to.
    pub entities: Vec<Entity>,
    /// Facts about the entities, those nearest to the question first.
    pub facts: Vec<Fact>,
}

impl fmt::Display for Recalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Entity {
            name,
            kind,
            summary,
            ..
        } in &self.entities
        {
            let colon = if summary.is_empty() { "" } else { ": " };
            let told = format!("{name} ({kind}){colon}{summary}");
            writeln!(f, "- {}", in_one_line(&told))?;
        }
        for fact in &self.facts {
            writeln!(f, "- {}", in_one_line(&fact.to_string()))?;
        }
        Ok(())
    }
}

/// A text without line breaks, so that it cannot look like another line.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Looks up what is known about the entities that a question names.
#[node(writes = recalled)]
impl Recall {
    async fn exec(
        &self,
        /// The question, or the names of what it is about.
        question: &str,
    ) -> Result<Recalled, GraphError> {
        let entities = self.graph.find(question, self.entities).await?;
        let mut recalled = Recalled {
            entities,
            facts: Vec::new(),
        };
        let mut reached: BTreeSet<String> =
            recalled.entities.iter().map(|it| it.id.clone()).collect();
        let mut seen = BTreeSet::new();
        let mut next: Vec<String> = recalled.entities.iter().map(|it| it.id.clone()).collect();
        for _ in 0..self.levels {
            let more = self.facts - recalled.facts.len();
            if next.is_empty() || more == 0 {
                break;
            }
            // Facts seen on an earlier level are returned again.
            let found = self.graph.facts(&next, self.facts).await?;
            let is_wanted = |fact: &Fact| self.history || fact.holds();
            let new = found
                .into_iter()
                .filter(|fact| is_wanted(fact) && seen.insert(fact.id.clone()));
            let new: Vec<Fact> = new.take(more).collect();
            let ends = new.iter().flat_map(|fact| [&fact.subject, &fact.object]);
            next = ends
                .filter(|id| reached.insert((*id).clone()))
                .cloned()
                .collect();
            recalled.entities.extend(self.graph.entities(&next).await?);
            recalled.facts.extend(new);
        }
        Ok(recalled)
    }
}

/// The markers around the knowledge.
const BEGIN: &str = "This is known about the question:";
const END: &str = "\n(That was known.)";

/// A node that tells a model the knowledge. It reads `messages` and `recalled`, and writes
/// `messages` with the knowledge in the system message, in place of that about an earlier question.
#[node(writes = messages)]
pub fn tell_known(messages: Messages, recalled: &Recalled) -> Messages {
    let mut messages = messages;
    messages.remove_from_system(BEGIN, END);
    let known = recalled.to_string();
    let known = if known.is_empty() {
        "Nothing."
    } else {
        known.trim_end()
    };
    messages.add_system(&format!("{BEGIN}\n{known}{END}"), Placement::Append);
    messages
}
