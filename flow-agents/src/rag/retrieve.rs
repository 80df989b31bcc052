//! Finds passages that answer a question.

use std::fmt::Write as _;
use std::sync::Arc;

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

use super::cite::{name_of, without_names};
use super::passages::{FoundPassage, Passage, Passages, RagError};
use crate::asked::asked;
use crate::embedding::Embedding;
use crate::error::ModelError;
use crate::messages::{Messages, Placement};
use crate::model::{Model, Request};

/// The default of [`Retrieve::limit`].
const LIMIT: usize = 6;

const REWRITE: &str = "Write the last question so that it can be understood without the conversation \
    before it. Answer with the question alone.";

/// The marker after the passages.
const END: &str = "(These were the passages.)";

/// The instruction before the passages.
const TASK: &str = "Answer the question from the passages below, and from nothing else. Behind each \
    statement, name the passage that says so by its name in brackets, such as [NAME#NUMBER]. If the \
    passages do not answer the question, say so.";

/// A node that makes a question complete. It reads `question` and the optional `history`, the
/// earlier conversation, and writes `query`. Without a conversation, no model is asked.
#[derive(Clone)]
pub struct Rewrite {
    model: Arc<dyn Model>,
}

impl Rewrite {
    /// Creates a node that asks this model.
    pub fn new(model: impl Model + 'static) -> Rewrite {
        Rewrite {
            model: Arc::new(model),
        }
    }
}

#[node(writes = query)]
impl Rewrite {
    async fn exec(&self, question: &str, history: Option<&Messages>) -> Result<String, ModelError> {
        let Some(history) = history.filter(|history| !history.is_empty()) else {
            return Ok(question.to_owned());
        };
        let mut messages = history.clone();
        messages.add_user(question);
        messages.add_system(REWRITE, Placement::Replace);
        let reply = asked(&*self.model, &Request::new(&messages), |_| {}).await?;
        let query = reply.into_complete()?.content;
        let query = query.trim();
        Ok(if query.is_empty() { question } else { query }.to_owned())
    }
}

/// The result of a search for passages.
#[derive(Debug, Clone, PartialEq, Action, Serialize, Deserialize)]
pub enum Retrieved {
    /// There are passages.
    Found {
        /// The passages, the most similar first.
        found: Vec<FoundPassage>,
    },
    /// There are no passages.
    Nothing,
}

/// A node that finds passages. It reads `query`, and takes the action `"found"` with `found`, or
/// `"nothing"`.
#[derive(Clone)]
pub struct Retrieve {
    embedding: Arc<dyn Embedding>,
    passages: Arc<dyn Passages>,
    limit: usize,
    likeness: f32,
}

impl Retrieve {
    /// Finds the six most similar passages, with the embedding with which they were
    /// [kept](super::Keep).
    pub fn new(embedding: impl Embedding + 'static, passages: impl Passages + 'static) -> Retrieve {
        Retrieve {
            embedding: Arc::new(embedding),
            passages: Arc::new(passages),
            limit: LIMIT,
            likeness: 0.0,
        }
    }

    /// Sets the maximum number of passages.
    pub fn limit(mut self, passages: usize) -> Retrieve {
        self.limit = passages;
        self
    }

    /// Sets the similarity that a passage has to exceed. The default is 0; a good number depends on
    /// the embedding.
    pub fn likeness(mut self, likeness: f32) -> Retrieve {
        self.likeness = likeness;
        self
    }

    async fn find(&self, query: &str) -> Result<Vec<FoundPassage>, RagError> {
        let embedded = self.embedding.embed(&[query.to_owned()]).await?;
        let Some(vector) = embedded.vectors.first() else {
            let source = "there is no vector of the question".into();
            return Err(ModelError::Malformed { source }.into());
        };
        let mut found = self.passages.nearest(vector, self.limit).await?;
        found.retain(|it| it.likeness > self.likeness);
        Ok(found)
    }
}

#[node(actions = Retrieved)]
impl Retrieve {
    async fn exec(&self, query: &str) -> Result<Retrieved, RagError> {
        let found = self.find(query).await?;
        Ok(if found.is_empty() {
            Retrieved::Nothing
        } else {
            Retrieved::Found { found }
        })
    }
}

/// A tool with which an agent finds passages:
/// `tools![SearchDocuments = SearchDocuments::new(retrieve)]`.
#[derive(Clone)]
pub struct SearchDocuments {
    retrieve: Retrieve,
}

impl SearchDocuments {
    /// Creates a tool that finds the passages of this node.
    pub fn new(retrieve: Retrieve) -> SearchDocuments {
        SearchDocuments { retrieve }
    }
}

/// Searches the documents. Each passage follows its name in brackets: cite it by this name.
#[node(writes = passages)]
impl SearchDocuments {
    async fn exec(
        &self,
        /// A question, or words to search for.
        query: &str,
    ) -> Result<String, RagError> {
        let found = self.retrieve.find(query).await?;
        Ok(if found.is_empty() {
            "There is no such passage.".to_owned()
        } else {
            shown(found.iter().map(|it| &it.passage))
        })
    }
}

/// Passages as a model reads them, each after its name. Text that looks like the name of a passage
/// is changed: a document must not make the model cite another one. Nor can a document end the
/// passages.
pub(super) fn shown<'a>(passages: impl IntoIterator<Item = &'a Passage>) -> String {
    let mut shown = String::new();
    for passage in passages {
        let text = without_names(&passage.text).replace(END, "");
        let _ = write!(shown, "[{}]\n{}\n\n", name_of(&passage.id()), text.trim());
    }
    shown.truncate(shown.trim_end().len());
    shown
}

/// A node that tells a model the passages. It reads `question`, `found` and the optional `history`,
/// and writes `messages`. The passages are in the system message, in place of those of an earlier
/// question.
#[node(writes = messages)]
pub fn tell_passages(
    question: &str,
    found: &[FoundPassage],
    history: Option<&Messages>,
) -> Messages {
    let mut messages = without_passages(history);
    let shown = shown(found.iter().map(|it| &it.passage));
    messages.add_system(&format!("{TASK}\n\n{shown}\n\n{END}"), Placement::Append);
    messages.add_user(question);
    messages
}

/// A conversation without the passages of an earlier question.
fn without_passages(history: Option<&Messages>) -> Messages {
    let mut messages = history.cloned().unwrap_or_default();
    messages.remove_from_system(TASK, END);
    messages
}

/// The passages in a system message. Empty if there are none.
pub(super) fn passages_in(system: &str) -> &str {
    let begin = system.find(TASK);
    let end = system.rfind(END);
    match (begin, end) {
        (Some(begin), Some(end)) if begin < end => &system[begin..end],
        _ => "",
    }
}

/// A node that asks without passages. It reads `question` and the optional `history`, and writes
/// `messages`, without the passages of an earlier question.
#[node(writes = messages)]
pub fn tell_question(question: &str, history: Option<&Messages>) -> Messages {
    let mut messages = without_passages(history);
    messages.add_user(question);
    messages
}
