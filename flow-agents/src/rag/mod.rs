//! Answers from documents: passages are found by their meaning, with vectors, and cited.
//!
//! [`Index`] splits a document, makes vectors of its passages, and keeps them in [`Passages`].
//! [`Answer`] finds the passages about a question, lets a model answer from them, and returns those
//! that the answer cites. [`AnswerByAgent`] lets the model search by itself. Their nodes can be
//! used in your own flows.
//!
//! # Examples
//! ```
//! use std::sync::Arc;
//!
//! use flow_agents::rag::{Answer, AnswerInput, Index, IndexInput, MemoryPassages};
//! use flow_agents::{BagOfWords, ScriptedModel};
//! use flow_runtime::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
//! let passages = Arc::new(MemoryPassages::new());
//! let index = Index::of(BagOfWords::new(512), passages.clone());
//! let text = "Trains are paid in second class.".to_owned();
//! index.run(IndexInput { source: "handbook.md".into(), text }).await?;
//!
//! let model = ScriptedModel::new().text("In second class [handbook.md#0].");
//! let answer = Answer::of(model, BagOfWords::new(512), passages);
//! let question = AnswerInput::builder().question("How are trains paid?".into()).build();
//! let output = answer.run(question).await?;
//! assert_eq!(output.citations.unwrap()[0].text, "Trains are paid in second class.");
//! # Ok(()) }
//! ```

mod cite;
mod index;
mod memory;
mod passages;
mod retrieve;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::sync::Arc;

use flow_runtime::prelude::*;

use crate::agent::Agent;
use crate::chat::Chat;
use crate::embedding::Embedding;
use crate::message::ToolCall;
use crate::messages::Messages;
use crate::model::Model;
use crate::tools::Tools;

pub use cite::{Cite, answer_of};
pub use index::{Keep, RemoveOld, Split};
pub use memory::MemoryPassages;
pub use passages::{FoundPassage, Passage, PassageId, Passages, PassagesError, RagError};
pub use retrieve::{Retrieve, Retrieved, Rewrite, SearchDocuments, tell_passages, tell_question};
#[cfg(feature = "sqlite")]
pub use sqlite::SqlitePassages;

flow! {
    /// Keeps the passages of a document, and removes its earlier ones.
    ///
    /// `source` names the document in citations. A concurrent question may find old and new
    /// passages.
    pub Index(source: String, text: String) -> (number: usize) {
        node split: Split;
        node keep: Keep;
        node remove_old: RemoveOld;
        node kept: for batch in batches { keep } with concurrency(4);

        start >> split >> kept >> remove_old >> end;
    }
}

impl Index {
    /// Creates the flow with the defaults of [`Split`].
    pub fn of(embedding: impl Embedding + 'static, passages: impl Passages + 'static) -> Index {
        let passages: Arc<dyn Passages> = Arc::new(passages);
        Index::builder()
            .split(Split::new())
            .keep(Keep::new(embedding, Arc::clone(&passages)))
            .remove_old(RemoveOld::new(passages))
            .build()
    }
}

flow! {
    /// Answers a question from passages.
    ///
    /// `history` is the conversation before it. Without `with_passages`, the model answers by
    /// itself. Without `with_citations`, the cited passages are not looked up. At the end
    /// `"nothing"`, no passage is about the question, and the model was not asked for an answer.
    pub Answer(
        question: String,
        history: Option<Messages>,
        with_passages: bool = true,
        with_citations: bool = true,
    ) -> (
        answer: Option<String>,
        citations: Option<Vec<Passage>>,
        unfounded: Option<Vec<String>>,
        messages: Option<Messages>,
    ) {
        node rewrite: Rewrite;
        node retrieve: Retrieve;
        node chat: Chat;
        node cite: Cite;
        branch passages_wanted(with_passages) {
            *with_passages => "yes",
            else => "no",
        }
        branch citations_wanted(with_citations) {
            *with_citations => "yes",
            else => "no",
        }

        start >> passages_wanted;
        passages_wanted - "yes"     >> rewrite >> retrieve;
        passages_wanted - "no"      >> tell_question >> chat;
        retrieve        - "found"   >> tell_passages >> chat;
        retrieve        - "nothing" >> end("nothing");
        chat >> answer_of >> citations_wanted;
        citations_wanted - "yes" >> cite >> end;
        citations_wanted - "no"  >> end;
    }
}

impl Answer {
    /// Creates the flow with the defaults of the nodes. The embedding has to be the one with which
    /// the passages were kept.
    pub fn of(
        model: impl Model + 'static,
        embedding: impl Embedding + 'static,
        passages: impl Passages + 'static,
    ) -> Answer {
        let model: Arc<dyn Model> = Arc::new(model);
        let passages: Arc<dyn Passages> = Arc::new(passages);
        Answer::builder()
            .rewrite(Rewrite::new(Arc::clone(&model)))
            .retrieve(Retrieve::new(embedding, Arc::clone(&passages)))
            .chat(Chat::new(model))
            .cite(Cite::new(passages))
            .build()
    }
}

flow! {
    /// Lets an agent answer a question, with a tool that finds passages.
    ///
    /// The ends are those of [`Agent`].
    pub AnswerByAgent(question: String, history: Option<Messages>, with_citations: bool = true) -> (
        answer: Option<String>,
        citations: Option<Vec<Passage>>,
        unfounded: Option<Vec<String>>,
        messages: Messages,
        pending: Option<Vec<ToolCall>>,
        turns: u32,
    ) {
        node agent: Agent;
        node cite: Cite;
        branch citations_wanted(with_citations) {
            *with_citations => "yes",
            else => "no",
        }

        start >> tell_question >> agent >> citations_wanted;
        agent            - "incomplete" >> end("incomplete");
        agent            - "limit"      >> end("limit");
        agent            - "budget"     >> end("budget");
        citations_wanted - "yes"        >> cite >> end;
        citations_wanted - "no"         >> end;
    }
}

impl AnswerByAgent {
    /// Creates the flow with this model and these tools. One of them is a [`SearchDocuments`],
    /// whose passages it may cite.
    pub fn of(
        model: impl Model + 'static,
        tools: Tools,
        passages: impl Passages + 'static,
    ) -> AnswerByAgent {
        AnswerByAgent::builder()
            .agent(Agent::of(model, tools))
            .cite(Cite::new(passages))
            .build()
    }
}
