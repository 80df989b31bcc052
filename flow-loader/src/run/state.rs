//! The values of a loaded flow while it runs.

use std::any::Any;
use std::sync::Arc;

use flow_runtime::engine::{Json, Saved, StoredState, Unstorable};

use crate::level::{KeyIndex, Level, NodeIndex, TakenBy};
use crate::value::AnyValue;

/// The state of a flow between two nodes.
pub struct LoadedState(Repr);

enum Repr {
    Values(Cells),
    /// A state that was read back, by a program that has yet to say of which flow.
    Saved(Saved),
}

/// The values of a flow by key.
pub(crate) struct Cells {
    pub(crate) level: Arc<Level>,
    values: Vec<Option<AnyValue>>,
}

impl LoadedState {
    pub(crate) fn new(level: &Arc<Level>) -> Self {
        LoadedState(Repr::Values(Cells {
            level: level.clone(),
            values: level.keys.iter().map(|_| None).collect(),
        }))
    }

    /// The values, of this flow.
    pub(crate) fn into_cells(self, level: &Arc<Level>) -> Result<Cells, Unstorable> {
        let mut saved = match self.0 {
            Repr::Values(cells) => return Ok(cells),
            Repr::Saved(saved) => saved,
        };
        let values = level.keys.iter().map(|key| {
            let value = saved.0.remove(&key.name);
            value.map(|value| read(key, value)).transpose()
        });
        Ok(Cells {
            level: level.clone(),
            values: values.collect::<Result<_, _>>()?,
        })
    }
}

/// A value of the type of a key.
pub(crate) fn read(
    key: &crate::level::Key,
    value: serde_json::Value,
) -> Result<AnyValue, Unstorable> {
    let unstorable = |reason: String| Unstorable {
        key: key.name.clone(),
        reason,
    };
    match key.ty.json {
        Some(json) => (json.read)(value).map_err(|error| unstorable(error.to_string())),
        None => Err(unstorable(not_json(key.ty.name()))),
    }
}

/// The value of a type as JSON.
pub(crate) fn written(
    key: &str,
    ty: &crate::value::ValueType,
    value: &dyn Any,
) -> Result<serde_json::Value, Unstorable> {
    let unstorable = |reason: String| Unstorable {
        key: key.to_owned(),
        reason,
    };
    let Some(json) = ty.json else {
        return Err(unstorable(not_json(ty.name())));
    };
    let value = erased_serde::serialize((json.serialize)(value), serde_json::value::Serializer);
    value.map_err(|error| unstorable(error.to_string()))
}

fn not_json(name: &str) -> String {
    format!("`{name}` is not `Serialize` and `Deserialize`")
}

impl StoredState<Json> for LoadedState {
    fn save(&self) -> Result<Saved, Unstorable> {
        let cells = match &self.0 {
            Repr::Values(cells) => cells,
            Repr::Saved(saved) => return Ok(saved.clone()),
        };
        let mut saved = Saved::default();
        for (key, value) in cells.level.keys.iter().zip(&cells.values) {
            if let Some(value) = value {
                let value = written(&key.name, key.ty, &**value)?;
                saved.0.insert(key.name.clone(), value);
            }
        }
        Ok(saved)
    }

    fn load(saved: Saved) -> Result<Self, Unstorable> {
        Ok(LoadedState(Repr::Saved(saved)))
    }
}

impl From<Cells> for LoadedState {
    fn from(cells: Cells) -> Self {
        LoadedState(Repr::Values(cells))
    }
}

impl LoadedState {
    /// The values of a state that is in use.
    #[inline]
    pub(crate) fn cells(&self) -> &Cells {
        match &self.0 {
            Repr::Values(cells) => cells,
            Repr::Saved(_) => unreachable!("a run begins with the values of its flow"),
        }
    }

    #[inline]
    pub(crate) fn cells_mut(&mut self) -> &mut Cells {
        match &mut self.0 {
            Repr::Values(cells) => cells,
            Repr::Saved(_) => unreachable!("a run begins with the values of its flow"),
        }
    }
}

impl Cells {
    #[inline]
    pub(crate) fn get(&self, KeyIndex(key): KeyIndex) -> Option<&AnyValue> {
        self.values[key].as_ref()
    }

    #[inline]
    pub(crate) fn set(&mut self, KeyIndex(key): KeyIndex, value: AnyValue) {
        self.values[key] = Some(value);
    }

    pub(crate) fn put(&mut self, KeyIndex(key): KeyIndex, value: Option<AnyValue>) {
        self.values[key] = value;
    }

    #[inline]
    pub(crate) fn remove(&mut self, KeyIndex(key): KeyIndex) -> Option<AnyValue> {
        self.values[key].take()
    }

    /// A clone of the value of a key.
    pub(crate) fn cloned(&self, key: KeyIndex) -> Option<AnyValue> {
        let value = self.get(key)?;
        Some(self.level.key(key).ty.cloned_box(&**value))
    }
}

/// The state of a branch: what its nodes wrote, and what was taken for them.
#[derive(Default)]
pub(crate) struct Own {
    pub(crate) written: Vec<(KeyIndex, AnyValue)>,
    pub(crate) taken: Vec<(TakenBy, KeyIndex, Option<AnyValue>)>,
}

impl Own {
    pub(crate) fn get(&self, key: KeyIndex) -> Option<&AnyValue> {
        let written = self.written.iter().find(|(other, _)| *other == key);
        written.map(|(_, value)| value)
    }

    pub(crate) fn set(&mut self, key: KeyIndex, value: AnyValue) {
        self.written.retain(|(other, _)| *other != key);
        self.written.push((key, value));
    }

    pub(crate) fn remove(&mut self, key: KeyIndex) -> Option<AnyValue> {
        let at = self.written.iter().position(|(other, _)| *other == key)?;
        Some(self.written.swap_remove(at).1)
    }

    /// The value that was taken for this read.
    pub(crate) fn taken(&self, node: NodeIndex, read: usize) -> Option<&AnyValue> {
        let mut taken = self.taken.iter();
        let found = taken.find(|(by, ..)| *by == TakenBy { node, read })?;
        found.2.as_ref()
    }

    /// Takes out what was taken for this read. `None` if nothing was.
    pub(crate) fn take(&mut self, node: NodeIndex, read: usize) -> Option<Option<AnyValue>> {
        let mut taken = self.taken.iter_mut();
        let found = taken.find(|(by, ..)| *by == TakenBy { node, read })?;
        Some(found.2.take())
    }

    /// A value that was moved out of the flow's state for a later node.
    pub(crate) fn moved(&self, key: KeyIndex) -> Option<&AnyValue> {
        let mut taken = self.taken.iter().filter(|(_, other, _)| *other == key);
        taken.find_map(|(.., value)| value.as_ref())
    }
}
