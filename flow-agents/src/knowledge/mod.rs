//! Knowledge: entities and facts that are read from texts, kept in a graph, and looked up.
//!
//! [`Learn`] reads the entities and facts of a text, and matches them with known ones. A fact that
//! a later text contradicts is kept as [replaced](Fact::replaced_by). [`Recall`] finds the
//! knowledge about a question. All their nodes can be used in your own flows.
//!
//! Read a long text in parts, with one run of [`Learn`] for each: a model finds more in a page than
//! in a book. Two concurrent runs that give a new entity the same name make one entity of it. They
//! do not compare their facts with each other.
//!
//! # Examples
//! ```
//! use std::sync::Arc;
//!
//! use flow_agents::ScriptedModel;
//! use flow_agents::knowledge::{Learn, LearnInput, MemoryGraph, Recall};
//! use flow_runtime::prelude::*;
//!
//! flow! {
//!     Look(question: String) -> (recalled: flow_agents::knowledge::Recalled) {
//!         node recall: Recall;
//!         start >> recall >> end;
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
//! let model = ScriptedModel::new()
//!     .text(r#"[
//!         { "name": "Ann Lee", "kind": "person", "summary": "" },
//!         { "name": "Acme", "kind": "company", "summary": "It builds bridges." }
//!     ]"#)
//!     .text(r#"[{
//!         "subject": "Ann Lee", "relation": "works at", "object": "Acme", "text": "Ann Lee works at Acme."
//!     }]"#);
//! let graph = Arc::new(MemoryGraph::new());
//! let learn = Learn::of(Arc::new(model), graph.clone());
//! let input = LearnInput::builder().text("Ann Lee works at Acme, which builds bridges.".into());
//! learn.run(input.source("letter.txt".into()).build()).await?;
//!
//! let look = Look::builder().recall(Recall::new(graph)).build();
//! let recalled = look.run(LookInput { question: "Where does Ann work?".into() }).await?.recalled;
//! assert_eq!(recalled.facts[0].to_string(), "Ann Lee works at Acme. (source: letter.txt)");
//! # Ok(()) }
//! ```

mod dates;
mod entities;
mod facts;
mod graph;
mod memory;
mod names;
mod recall;
mod save;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::sync::Arc;

use flow_runtime::prelude::*;

use crate::model::Model;

pub use dates::FindDates;
pub use entities::{FindEntities, FoundEntities, LoadEntities, Mention, Named, ResolveEntities};
pub use facts::{
    ConnectEntities, Connected, FindFacts, FoundFacts, LoadFacts, ResolveFacts, connected,
};
pub use graph::{Entity, Fact, Graph, GraphError};
pub use memory::MemoryGraph;
pub use recall::{Recall, Recalled, tell_known};
pub use save::SaveKnowledge;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteGraph;

flow! {
    /// Reads the entities and facts of a text, and keeps them in a graph.
    ///
    /// `source` names the text. `date`, the day on which it was written, helps to read `last year`.
    /// Without `with_facts`, only the entities are kept. With `with_dates`, a model is asked when
    /// the facts hold. At the end `"nothing"`, the text names no entities.
    pub Learn(
        text: String,
        source: String,
        date: Option<String>,
        with_facts: bool = true,
        with_dates: bool = false,
    ) -> (entities: Option<Vec<Entity>>, facts: Option<Vec<Fact>>, unplaced: Option<Vec<String>>) {
        node find_entities: FindEntities;
        node load_entities: LoadEntities;
        node resolve_entities: ResolveEntities;
        node find_facts: FindFacts;
        node connect_entities: ConnectEntities;
        node load_facts: LoadFacts;
        node resolve_facts: ResolveFacts;
        node find_dates: FindDates;
        node save: SaveKnowledge;
        branch facts_wanted(with_facts) {
            *with_facts => "yes",
            else => "no",
        }
        branch dates_wanted(with_dates) {
            *with_dates => "yes",
            else => "no",
        }

        start >> find_entities;
        find_entities - "nothing"  >> end("nothing");
        find_entities - "found"    >> load_entities >> resolve_entities >> facts_wanted;
        facts_wanted  - "no"       >> save;
        facts_wanted  - "yes"      >> find_facts;
        find_facts    - "nothing"  >> save;
        find_facts    - "found"    >> connected;
        connected     - "isolated" >> connect_entities >> load_facts;
        connected     - "all"      >> load_facts;
        load_facts >> resolve_facts >> dates_wanted;
        dates_wanted - "yes" >> find_dates >> save;
        dates_wanted - "no"  >> save;
        save >> end;
    }
}

impl Learn {
    /// Creates the flow with one model for everything and one graph.
    pub fn of(model: impl Model + 'static, graph: impl Graph + 'static) -> Learn {
        let model: Arc<dyn Model> = Arc::new(model);
        let graph: Arc<dyn Graph> = Arc::new(graph);
        Learn::builder()
            .find_entities(FindEntities::new(Arc::clone(&model)))
            .load_entities(LoadEntities::new(Arc::clone(&graph)))
            .resolve_entities(ResolveEntities::new(Arc::clone(&model)))
            .find_facts(FindFacts::new(Arc::clone(&model)))
            .connect_entities(ConnectEntities::new(Arc::clone(&model)))
            .load_facts(LoadFacts::new(Arc::clone(&graph)))
            .resolve_facts(ResolveFacts::new(Arc::clone(&model)))
            .find_dates(FindDates::new(model))
            .save(SaveKnowledge::new(graph))
            .build()
    }
}
