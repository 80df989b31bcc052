//! The values of a loaded flow while it runs.

use std::any::Any;
use std::sync::Arc;

use flow_runtime::engine::{Json, Saved, StoredState, Unstorable, to_json};

use crate::cell::{AnyValue, Cell};
use crate::level::{Input, Level, Output};
use crate::place::Cells;
use crate::ports::KeyIndex;

/// The state of a flow between two nodes.
pub struct LoadedState(Repr);

enum Repr {
    Values(Arc<Level>, Cells),
    /// A state that was read back. Its flow is not known yet.
    Saved(Saved),
}

impl LoadedState {
    /// The initial state of a run. `value` returns the value of an input, by its index.
    pub(crate) fn begun<E>(
        level: &Arc<Level>,
        mut value: impl FnMut(usize, &Input) -> Result<Option<AnyValue>, E>,
    ) -> Result<Self, E> {
        let cells: Vec<Cell> = level.keys.iter().map(|_| Cell::default()).collect();
        let mut cells = Cells::from(cells);
        for (number, input) in level.inputs.iter().enumerate() {
            if let (Some(value), Some(key)) = (value(number, input)?, input.key) {
                cells.cell(key).set(value);
            }
        }
        Ok(LoadedState(Repr::Values(level.clone(), cells)))
    }

    /// A state with only these values of keys.
    pub(crate) fn with(
        level: &Arc<Level>,
        values: impl IntoIterator<Item = (KeyIndex, AnyValue)>,
    ) -> Self {
        let cells: Vec<Cell> = level.keys.iter().map(|_| Cell::default()).collect();
        let mut cells = Cells::from(cells);
        for (key, value) in values {
            cells.cell(key).set(value);
        }
        LoadedState(Repr::Values(level.clone(), cells))
    }

    /// Reads a saved state as a state of this flow.
    pub(crate) fn of(self, level: &Arc<Level>) -> Result<Self, Unstorable> {
        if let Repr::Values(..) = self.0 {
            return Ok(self);
        }
        let cells = self.into_cells(level)?;
        Ok(LoadedState(Repr::Values(level.clone(), cells)))
    }

    /// The values of a state of this flow.
    pub(crate) fn into_cells(self, level: &Level) -> Result<Cells, Unstorable> {
        let mut saved = match self.0 {
            Repr::Values(_, cells) => return Ok(cells),
            Repr::Saved(saved) => saved,
        };
        let cells = level.keys.iter().map(|key| {
            let value = saved.0.remove(&key.name);
            let value = value.map(|value| read(key, value)).transpose();
            value.map(Cell::from)
        });
        let cells: Vec<Cell> = cells.collect::<Result<_, _>>()?;
        Ok(cells.into())
    }
}

/// Reads a value of a key's type.
pub(super) fn read(
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

/// Writes a value of a type as JSON.
pub(crate) fn written(
    key: &str,
    ty: &crate::value::ValueType,
    value: &dyn Any,
) -> Result<serde_json::Value, Unstorable> {
    let Some(json) = ty.json else {
        return Err(Unstorable {
            key: key.to_owned(),
            reason: not_json(ty.name()),
        });
    };
    to_json((json.serialize)(value)).map_err(|inexact| Unstorable::part_of(key, inexact))
}

fn not_json(name: &str) -> String {
    format!("`{name}` is not `Serialize` and `Deserialize`")
}

// Loops are checked when an execution starts: see `AnyFlow::stored_input`.

impl StoredState<Json> for LoadedState {
    fn save(&self) -> Result<Saved, Unstorable> {
        let (level, cells) = match &self.0 {
            Repr::Values(level, cells) => (level, cells),
            Repr::Saved(saved) => return Ok(saved.clone()),
        };
        let mut saved = Saved::default();
        for (key, value) in level.keys.iter().zip(&cells.all) {
            if let Some(value) = value.get() {
                let value = written(&key.name, key.ty, value)?;
                saved.0.insert(key.name.clone(), value);
            }
        }
        Ok(saved)
    }

    fn load(saved: Saved) -> Result<Self, Unstorable> {
        Ok(LoadedState(Repr::Saved(saved)))
    }
}

impl LoadedState {
    /// The values of a state that is in use.
    pub(crate) fn cells(&self) -> &Cells {
        match &self.0 {
            Repr::Values(_, cells) => cells,
            Repr::Saved(_) => unreachable!("a run begins with the values of its flow"),
        }
    }

    /// The values of a state that is in use, mutably.
    #[inline]
    pub(crate) fn cells_mut(&mut self) -> &mut Cells {
        match &mut self.0 {
            Repr::Values(_, cells) => cells,
            Repr::Saved(_) => unreachable!("a run begins with the values of its flow"),
        }
    }
}

/// The value of an output.
pub(crate) fn returned(output: &Output, cells: &mut Cells) -> Option<AnyValue> {
    let value = cells.cell(output.key?).remove()?;
    if output.flattens {
        let option = output.ty.and_then(|ty| ty.option);
        return match option {
            Some(option) => (option.take)(value),
            None => Some(value),
        };
    }
    Some(value)
}
