//! Finds the facts of a text about its entities, and matches them with known ones.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use flow_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entities::Named;
use super::graph::{Entity, Fact, Graph, GraphError, merge_sources};
use super::names::plain;
use crate::ask::ask;
use crate::ask::error::AskError;
use crate::message::Message;
use crate::messages::Messages;
use crate::model::Model;

/// The maximum number of known facts that are compared with those of a text.
const COMPARED: usize = 200;

const FIND: &str = "Find the facts that the text says about the entities that are listed. A fact connects \
    two of them. Take both names exactly as they are listed. Say only what the text says.";

const CONNECT: &str = "The entities of the first list are connected to no other one yet. Find what the text \
    says about how they are connected to the entities of the second list, or to one another. Take both \
    names exactly as they are listed. Say only what the text says; if it says nothing, the list is empty.";

const RESOLVE: &str = "Compare new statements with facts that are known. Say of each statement which known \
    fact says the same in other words, and which known facts are not true any more if the statement is: \
    those that it contradicts or that it replaces by something later. Leave the statements out for which \
    there is neither.";

/// A model's answer: a fact by the names of its entities.
#[derive(Deserialize, JsonSchema)]
struct Statement {
    /// The name of the entity that the fact is about.
    subject: String,
    /// The relation of the two, in a few words, such as `works at`.
    relation: String,
    /// The name of the other entity.
    object: String,
    /// The fact as one sentence that can be understood without the text.
    text: String,
}

/// The result of a search for facts.
#[derive(Debug, Clone, PartialEq, Action, Serialize, Deserialize)]
pub enum FoundFacts {
    /// The text states facts.
    Found {
        /// The facts, independent of known ones.
        stated: Vec<Fact>,
    },
    /// The text states no facts.
    Nothing,
}

/// A node that asks a model for the facts of a text about its entities. It reads `text`, `names`
/// and `source`, and takes the action `"found"` with `stated`, or `"nothing"`. It omits statements
/// about something else, and writes them to `unplaced`.
#[derive(Clone)]
pub struct FindFacts {
    model: Arc<dyn Model>,
}

impl FindFacts {
    /// Creates a node that asks this model.
    pub fn new(model: impl Model + 'static) -> FindFacts {
        FindFacts {
            model: Arc::new(model),
        }
    }
}

#[node(writes = unplaced, actions = FoundFacts)]
impl FindFacts {
    async fn exec(
        &self,
        text: &str,
        names: &[Named],
        source: &str,
    ) -> Result<(Vec<String>, FoundFacts), AskError> {
        let asked = format!("Entities: {}\n\nText:\n{text}", listed(names, names));
        let question = Messages::from_iter([Message::system(FIND), Message::user(asked)]);
        let statements: Vec<Statement> = ask(&self.model, &question).await?;
        let Placed { facts, unplaced } = placed(statements, names, source);
        let found = if facts.is_empty() {
            FoundFacts::Nothing
        } else {
            FoundFacts::Found { stated: facts }
        };
        Ok((unplaced, found))
    }
}

fn listed(names: &[Named], all: &[Named]) -> String {
    let labels = names.iter().map(|it| label(it, all));
    let labels: Vec<String> = labels
        .map(|it| serde_json::Value::from(it).to_string())
        .collect();
    labels.join(", ")
}

/// The label of an entity for a model: its name in the text, with its id if that is ambiguous.
fn label(named: &Named, all: &[Named]) -> String {
    if is_ambiguous(named, all) {
        format!("{} ({})", named.name, named.entity)
    } else {
        named.name.clone()
    }
}

fn is_ambiguous(named: &Named, all: &[Named]) -> bool {
    let is_other = |it: &Named| it.entity != named.entity && plain(&it.name) == plain(&named.name);
    all.iter().any(is_other)
}

struct Placed {
    /// Each fact once.
    facts: Vec<Fact>,
    unplaced: Vec<String>,
}

/// Statements about the entities that the names mean.
fn placed(statements: Vec<Statement>, names: &[Named], source: &str) -> Placed {
    let entity = |name: &str| {
        let by_label = |it: &&Named| plain(&label(it, names)) == plain(name);
        let by_name = |it: &&Named| plain(&it.name) == plain(name) && !is_ambiguous(it, names);
        let named = names.iter().find(by_label);
        let named = named.or_else(|| names.iter().find(by_name));
        named.map(|it| it.entity.clone())
    };
    let mut placed = Placed {
        facts: Vec::new(),
        unplaced: Vec::new(),
    };
    for statement in statements {
        let Statement {
            subject,
            relation,
            object,
            text,
        } = statement;
        let (Some(subject), Some(object)) = (entity(&subject), entity(&object)) else {
            placed.unplaced.push(text);
            continue;
        };
        let key = format!("{subject} - {} - {object} @ {source}", plain(&relation));
        let is_one_of_these =
            |fact: &&Fact| fact.id == key || fact.id.starts_with(&format!("{key} "));
        let others = placed.facts.iter().filter(is_one_of_these);
        let others: Vec<&Fact> = others.collect();
        if others.iter().all(|fact| plain(&fact.text) != plain(&text)) {
            // A text may say several things of the same kind, such as two amounts.
            let id = match others.len() {
                0 => key,
                before => format!("{key} {}", before + 1),
            };
            placed.facts.push(Fact {
                id,
                subject,
                relation,
                object,
                text,
                since: None,
                until: None,
                replaced_by: None,
                sources: vec![source.to_owned()],
            });
        }
    }
    placed
}

/// A node that loads the known facts about the entities of a text. It reads `entities` and writes
/// `known`, at most 200 facts.
#[derive(Clone)]
pub struct LoadFacts {
    graph: Arc<dyn Graph>,
}

impl LoadFacts {
    /// Creates a node that searches this graph.
    pub fn new(graph: impl Graph + 'static) -> LoadFacts {
        LoadFacts {
            graph: Arc::new(graph),
        }
    }
}

#[node(writes = known)]
impl LoadFacts {
    async fn exec(&self, entities: &[Entity]) -> Result<Vec<Fact>, GraphError> {
        let ids: Vec<String> = entities.iter().map(|it| it.id.clone()).collect();
        self.graph.facts(&ids, COMPARED).await
    }
}

/// A node that compares the facts of a text with known ones. It reads `stated` and `known`, and
/// writes `facts`. These are the facts of the text, or the known ones that say the same, and the
/// known ones that are no longer true, which are [replaced](Fact::replaced_by).
///
/// Facts with the same entities, relation and words are the same. If others are known about an
/// entity of a statement, a model is asked, once for all statements.
#[derive(Clone)]
pub struct ResolveFacts {
    model: Arc<dyn Model>,
}

impl ResolveFacts {
    /// Creates a node that asks this model.
    pub fn new(model: impl Model + 'static) -> ResolveFacts {
        ResolveFacts {
            model: Arc::new(model),
        }
    }
}

/// A model's answer about a statement.
#[derive(Deserialize, JsonSchema)]
struct Compared {
    /// The number of the statement.
    statement: usize,
    /// The number of the known fact that says the same.
    same_as: Option<usize>,
    /// The numbers of the known facts that are no longer true.
    replaces: Vec<usize>,
}

#[node(writes = facts)]
impl ResolveFacts {
    async fn exec(&self, stated: &[Fact], known: &[Fact]) -> Result<Vec<Fact>, AskError> {
        let mut facts = Facts::default();
        let mut unclear: Vec<&Fact> = Vec::new();
        for fact in stated {
            if let Some(same) = same_fact(known, fact) {
                facts.add(repeated(same, fact));
            } else {
                unclear.push(fact);
            }
        }
        let is_near = |known: &Fact| unclear.iter().any(|fact| shares_an_entity(known, fact));
        let near: Vec<&Fact> = known
            .iter()
            .filter(|it| it.holds() && is_near(it))
            .collect();
        let mut compared: Vec<Compared> = Vec::new();
        if !near.is_empty() && !unclear.is_empty() {
            let asked = format!(
                "Statements:\n{}\nKnown facts:\n{}",
                numbered(&unclear),
                numbered(&near)
            );
            let question = Messages::from_iter([Message::system(RESOLVE), Message::user(asked)]);
            compared = ask(&self.model, &question).await?;
        }
        let mut replaced: Vec<(usize, String)> = Vec::new();
        for (at, fact) in unclear.into_iter().enumerate() {
            let of_this = compared.iter().filter(|it| it.statement == at + 1);
            let same = of_this.clone().filter_map(|answer| answer.same_as);
            let same = same.filter_map(|number| nth(&near, number)).next_back();
            let kept = same.map_or_else(|| fact.clone(), |same| repeated(same, fact));
            let numbers = of_this.flat_map(|answer| &answer.replaces);
            replaced.extend(numbers.map(|number| (*number, kept.id.clone())));
            facts.add(kept);
        }
        // A statement of the text does not replace another one of the same text.
        let stated = facts.ids.clone();
        for (number, by) in replaced {
            if let Some(fact) = nth(&near, number).filter(|it| !stated.contains(&it.id)) {
                facts.add(Fact {
                    replaced_by: Some(by),
                    ..fact.clone()
                });
            }
        }
        Ok(facts.in_order)
    }
}

/// Facts, each once.
#[derive(Default)]
struct Facts {
    in_order: Vec<Fact>,
    ids: BTreeSet<String>,
}

impl Facts {
    fn add(&mut self, fact: Fact) {
        if self.ids.insert(fact.id.clone()) {
            self.in_order.push(fact);
        } else if let Some(kept) = self.in_order.iter_mut().find(|it| it.id == fact.id) {
            kept.merge(&fact);
        }
    }
}

fn nth<'a>(facts: &[&'a Fact], number: usize) -> Option<&'a Fact> {
    facts.get(number.checked_sub(1)?).copied()
}

/// The known, holding fact with the same content, or this one if the text was read before.
fn same_fact<'a>(known: &'a [Fact], fact: &Fact) -> Option<&'a Fact> {
    let key = |it: &Fact| {
        let text = plain(&it.text);
        (
            it.subject.clone(),
            plain(&it.relation),
            it.object.clone(),
            text,
        )
    };
    let mut known = known.iter();
    known.find(|it| it.id == fact.id || it.holds() && key(it) == key(fact))
}

/// A known fact that a text repeats.
fn repeated(known: &Fact, fact: &Fact) -> Fact {
    let mut known = known.clone();
    if known.id == fact.id {
        known.text.clone_from(&fact.text); // the same text says it, as it is now
    }
    merge_sources(&mut known.sources, &fact.sources);
    known
}

fn shares_an_entity(one: &Fact, other: &Fact) -> bool {
    let of_other = [&other.subject, &other.object];
    of_other.contains(&&one.subject) || of_other.contains(&&one.object)
}

fn numbered(facts: &[&Fact]) -> String {
    let mut shown = String::new();
    for (at, fact) in facts.iter().enumerate() {
        let since = fact.since.as_ref();
        let since = since.map_or_else(String::new, |since| format!(" (since {since})"));
        let _ = writeln!(shown, "{}. {}{since}", at + 1, fact.text);
    }
    shown
}

/// The result of a check that facts connect all entities of a text.
#[derive(Debug, Clone, PartialEq, Action, Serialize, Deserialize)]
pub enum Connected {
    /// Facts connect all entities.
    All,
    /// Some entities have no fact.
    Isolated {
        /// The names in the text of the entities without a fact.
        isolated: Vec<Named>,
    },
}

/// A node that finds entities without a fact in a text. It reads `names` and `stated`, and takes
/// the action `"all"`, or `"isolated"` with their names. A single entity is never isolated.
#[node(actions = Connected)]
pub fn connected(names: &[Named], stated: &[Fact]) -> Connected {
    let is_isolated = |name: &&Named| {
        let touches = |fact: &Fact| [&fact.subject, &fact.object].contains(&&name.entity);
        !stated.iter().any(touches)
    };
    let isolated: Vec<Named> = names.iter().filter(is_isolated).cloned().collect();
    if isolated.is_empty() {
        Connected::All
    } else {
        Connected::Isolated { isolated }
    }
}

/// A node that asks a model again about entities without a fact. It reads `text`, `isolated`,
/// `names`, `source` and `stated`, and adds the new facts to the end of `stated`.
#[derive(Clone)]
pub struct ConnectEntities {
    model: Arc<dyn Model>,
}

impl ConnectEntities {
    /// Creates a node that asks this model.
    pub fn new(model: impl Model + 'static) -> ConnectEntities {
        ConnectEntities {
            model: Arc::new(model),
        }
    }
}

#[node(writes = stated)]
impl ConnectEntities {
    async fn exec(
        &self,
        text: &str,
        isolated: &[Named],
        names: &[Named],
        source: &str,
        stated: Vec<Fact>,
    ) -> Result<Vec<Fact>, AskError> {
        let lists = format!(
            "First list: {}\nSecond list: {}",
            listed(isolated, names),
            listed(names, names)
        );
        let asked = format!("{lists}\n\nText:\n{text}");
        let question = Messages::from_iter([Message::system(CONNECT), Message::user(asked)]);
        let statements: Vec<Statement> = ask(&self.model, &question).await?;
        let mut facts = Facts::default();
        for fact in stated
            .into_iter()
            .chain(placed(statements, names, source).facts)
        {
            facts.add(fact);
        }
        Ok(facts.in_order)
    }
}
