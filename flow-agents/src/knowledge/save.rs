//! Saves the knowledge of a text.

use std::sync::Arc;

use flow_runtime::prelude::*;

use super::graph::{Entity, Fact, Graph, GraphError};

/// A node that saves the knowledge of a text. It reads `entities` and the optional `facts`, and
/// saves them in one transaction. Saving them twice, after a crash, changes nothing.
#[derive(Clone)]
pub struct SaveKnowledge {
    graph: Arc<dyn Graph>,
}

impl SaveKnowledge {
    /// Creates a node that saves to this graph.
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
