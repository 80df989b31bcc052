//! The record of a scripted run.

use crate::error::FlowError;
use crate::step_key::NodePath;

/// A run with scripted nodes: its result, and its visits.
#[derive(Debug)]
#[must_use = "whether the run did what it should is in here"]
pub struct ScriptedRun<O> {
    pub(super) result: Result<O, FlowError>,
    pub(super) visits: Vec<Visited>,
}

impl<O> ScriptedRun<O> {
    /// The result of the run.
    ///
    /// # Errors
    ///
    /// The run did not reach an end.
    pub fn result(&self) -> Result<&O, &FlowError> {
        self.result.as_ref()
    }

    /// The result of the run, as a value.
    ///
    /// # Errors
    ///
    /// The run did not reach an end.
    pub fn into_result(self) -> Result<O, FlowError> {
        self.result
    }

    /// The visits to nodes, in the order in which they began. Forks, races and loops are nodes too, and
    /// so are the steps of branches, the items of a loop, and undo nodes. The path of an undo node is
    /// that of the visit that it takes back and `!undo`, such as `orders.charge!undo`.
    pub fn visits(&self) -> &[Visited] {
        &self.visits
    }

    /// The names of the nodes that were visited, in the order in which the visits began.
    pub fn nodes(&self) -> Vec<&str> {
        self.visits.iter().map(Visited::node).collect()
    }

    /// The visits to the node with this path, such as `orders.pay`.
    pub fn visits_to(&self, path: &str) -> impl Iterator<Item = &Visited> {
        self.visits.iter().filter(move |visit| visit.path == path)
    }
}

/// One visit to a node.
#[derive(Debug, Clone, PartialEq)]
pub struct Visited {
    pub(super) path: String,
    pub(super) number: u32,
    pub(super) item: Option<u32>,
    #[cfg(feature = "stored")]
    pub(super) values: Option<crate::json::Saved>,
}

impl Visited {
    /// The path of the node, such as `orders.payment.charge`, or `report.summaries[3]` for an item
    /// of a loop.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The name of the node, such as `charge`.
    pub fn node(&self) -> &str {
        NodePath::new(&self.path).last()
    }

    /// The number of the visit, from 1, among those to this node in the same run of its flow.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The index of the item, from 0, if the visit belongs to an item of a loop. In nested loops, the
    /// index in the innermost one.
    pub fn item(&self) -> Option<u32> {
        self.item
    }

    /// The value of a key of the flow when the visit began. `None` if it had none. Values are kept
    /// only [with values](super::Scripted::with_values), and only for the nodes of flows, not for
    /// branches and items. An undo node has the values that it may read.
    ///
    /// # Panics
    ///
    /// The value has another type.
    #[cfg(feature = "stored")]
    pub fn value<T: serde::de::DeserializeOwned>(&self, key: &str) -> Option<T> {
        let value = self.values.as_ref()?.0.get(key)?;
        match serde_json::from_value(value.clone()) {
            Ok(value) => Some(value),
            Err(error) => panic!("`{key}` was {value} before `{}`: {error}", self.path),
        }
    }
}

/// Mode of a script that does not keep the values of the flow.
#[derive(Debug, Clone, Copy)]
pub struct NoValues;

/// Mode of a script that keeps the values of the flow, which have to be `Serialize` and
/// `Deserialize`.
#[cfg(feature = "stored")]
#[derive(Debug, Clone, Copy)]
pub struct WithValues;
