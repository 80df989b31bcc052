//! Keeping what a text says.

use std::sync::Arc;

use flow_runtime::prelude::*;

use super::graph::{Entity, Fact, Graph, GraphError};

/// A node that keeps what a text says: it reads `entities` and, if there are any, `facts`, and saves them
/// in one transaction. That they are saved twice, after a crash, changes nothing.
#[derive(Clone)]
pub struct SaveKnowledge {
    graph: Arc<dyn Graph>,
}

impl SaveKnowledge {
    /// Saves to this graph.
    pub fn new(graph: impl Graph + 'static) -> SaveKnowledge {
        SaveKnowledge {
            graph: Arc::new(graph),
        }
    }
}

#[node]
impl SaveKnowledge {
    async fn exec(&self, entities: &[Entity], facts: Option<&Vec<Fact>>) -> Result<(), GraphError> {
        let facts = facts.map(Vec::as_slice).unwrap_or_default();
        self.graph.save(entities, facts).await
    }
}
