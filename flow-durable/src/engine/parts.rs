//! The data that a part exchanges with the execution with the loop: the state in which it begins,
//! its results, and the number of steps that it took.

use flow_runtime::engine::{Failed, Frame, Saved, Spread};
use serde_json::{Map, Value, json};

use crate::engine::Durable;
use crate::entry::Snapshot;
use crate::parts::Division;

/// The output with the number of steps that a part took. No key of a flow has this name.
const STEPS: &str = "#steps";

/// The output of a part, with the number of steps that it took.
pub(crate) fn with_steps(mut output: Saved, steps: Option<u64>) -> Saved {
    if let Some(steps) = steps {
        output.0.insert(STEPS.to_owned(), steps.into());
    }
    output
}

/// The results in the output of a part, as they are recorded: with the number of steps, if the part
/// has counted them. `check` validates the results.
pub(crate) fn results_of<E>(
    mut output: Map<String, Value>,
    check: impl FnOnce(Option<Value>) -> Result<Value, E>,
) -> Result<Value, E> {
    let steps = output.remove(STEPS);
    let results = check(output.into_iter().next().map(|(_, results)| results))?;
    Ok(match steps {
        Some(steps) => json!({ "results": results, "steps": steps }),
        None => results,
    })
}

impl Durable {
    /// The number of steps taken by the loop of this part, without the one at the loop itself.
    pub(crate) fn steps_of_part(&self) -> u64 {
        let taken = self.run.steps_taken();
        taken.saturating_sub(self.began_with).saturating_sub(1)
    }

    /// Subtracts the steps of a part from the budget of the execution with the loop, and returns
    /// the results.
    pub(super) fn counted(&self, frame: &Frame<'_>, recorded: Value) -> Result<Value, Failed> {
        let Value::Object(mut recorded) = recorded else {
            return Ok(recorded);
        };
        let steps = recorded.get("steps").and_then(Value::as_u64).unwrap_or(0);
        self.run.count_steps(frame, steps)?;
        Ok(recorded.remove("results").unwrap_or_default())
    }

    /// The state in which a part begins: before the loop, with the values that the loop reads and
    /// the items of the part.
    pub(super) fn part_begins(
        &self,
        frame: &Frame<'_>,
        spread: &Spread<'_>,
        division: Division,
        number: u32,
        state: &Saved,
    ) -> Result<Snapshot, String> {
        let range = division.range(number);
        let range = range.start as usize..range.end as usize;
        let items = state.0.get(spread.over).and_then(Value::as_array);
        let items = items.and_then(|items| items.get(range));
        let Some(items) = items else {
            return Err(format!(
                "`{}` is in JSON no list of {} items, so they cannot be spread",
                spread.over, division.items
            ));
        };
        let items = Value::Array(items.to_vec());
        let read = |key: &&str| Some(((*key).to_owned(), state.0.get(*key)?.clone()));
        let others = spread.reads.iter().filter(|key| **key != spread.over);
        let mut begins: Map<String, Value> = others.filter_map(read).collect();
        begins.insert(spread.over.to_owned(), items);
        let place = frame.flow_place();
        let node = frame.path().node().to_owned();
        // The part itself visits the loop.
        let mut visits = self.journal.visits(&place.step);
        if let Some(count) = visits.get_mut(&node) {
            *count = count.saturating_sub(1);
        }
        Ok(Snapshot {
            namespace: place.path,
            node,
            state: begins,
            // The execution with the loop has the input, which is read there if it is needed.
            input: Map::new(),
            visits,
            steps: self.run.steps_taken().saturating_sub(1),
            undoable: Vec::new(),
        })
    }
}
