//! The results of loops over items.

use flow_runtime::engine::Unstorable;
use serde_json::{Map, Value};

use crate::cell::AnyValue;
use crate::level::{Key, Level, Results};
use crate::list::{ItemResult, without_error};
use crate::place::Cells;
use crate::run::state::{read, returned, written};

/// The result that a loop keeps of a run of a flow.
pub(crate) fn result_of(
    level: &Level,
    cells: &mut Cells,
    end: &str,
    results: Results,
) -> Result<AnyValue, Unstorable> {
    let outputs = level.outputs.iter();
    let mut outputs = outputs.map(|output| (output, returned(output, cells)));
    match results {
        Results::Nothing => Ok(AnyValue::new(())),
        Results::List(_) => match outputs.next() {
            Some((_, Some(value))) => Ok(value),
            _ => unreachable!("the only output of this flow is written at its end"),
        },
        Results::Json { whole } => {
            let mut object = Map::new();
            for (output, value) in outputs {
                let value = match (value, output.returned_type()) {
                    (Some(value), Some(ty)) => written(&output.name, ty, value.get())?,
                    _ => Value::Null,
                };
                if !whole {
                    return Ok(AnyValue::new(value));
                }
                object.insert(output.name.clone(), value);
            }
            if !whole {
                return Ok(AnyValue::new(Value::Null));
            }
            let end = flow_spec::camel_case(end);
            object.insert("end".to_owned(), Value::String(end));
            Ok(AnyValue::new(Value::Object(object)))
        }
    }
}

/// The results of all items, as a value of this key.
pub(crate) fn collected(
    key: &Key,
    items: impl Iterator<Item = ItemResult>,
    results: Results,
    keeps_errors: bool,
) -> Result<AnyValue, Unstorable> {
    let json = match results {
        Results::Nothing => unreachable!("`{}` has no results", key.name),
        Results::List(list) => return Ok(list.collected(items, keeps_errors)),
        Results::Json { .. } if keeps_errors => {
            let items: Vec<_> = items
                .map(|item| item.map(AnyValue::open::<Value>))
                .collect();
            serde_json::to_value(items).map_err(|error| Unstorable {
                key: key.name.clone(),
                reason: error.to_string(),
            })?
        }
        Results::Json { .. } => items
            .map(without_error)
            .map(AnyValue::open::<Value>)
            .collect(),
    };
    read(key, json)
}
