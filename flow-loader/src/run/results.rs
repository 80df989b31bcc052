//! The results of loops over items.

use flow_runtime::engine::Unstorable;
use serde_json::{Map, Value};

use crate::level::{Key, Level, Results};
use crate::list::{ItemResult, without_error};
use crate::run::state::{read, written};
use crate::run::visit::Returned;
use crate::value::{AnyValue, opened};

/// What a loop keeps of a run of a flow.
pub(crate) fn result_of(
    level: &Level,
    returned: Returned,
    results: Results,
) -> Result<AnyValue, Unstorable> {
    let mut outputs = level.outputs.iter().zip(returned.values);
    match results {
        Results::Nothing => Ok(Box::new(())),
        Results::List(_) => match outputs.next() {
            Some((_, Some(value))) => Ok(value),
            _ => unreachable!("the only output of this flow is written at its end"),
        },
        Results::Json { whole } => {
            let mut object = Map::new();
            for (output, value) in outputs {
                let value = match (value, output.returned_type()) {
                    (Some(value), Some(ty)) => written(&output.name, ty, &*value)?,
                    _ => Value::Null,
                };
                if !whole {
                    return Ok(Box::new(value));
                }
                object.insert(output.name.clone(), value);
            }
            if !whole {
                return Ok(Box::new(Value::Null));
            }
            let end = flow_spec::camel_case(&returned.end);
            object.insert("end".to_owned(), Value::String(end));
            Ok(Box::new(Value::Object(object)))
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
            let items: Vec<_> = items.map(|item| item.map(opened::<Value>)).collect();
            serde_json::to_value(items).map_err(|error| Unstorable {
                key: key.name.clone(),
                reason: error.to_string(),
            })?
        }
        Results::Json { .. } => items.map(without_error).map(opened::<Value>).collect(),
    };
    read(key, json)
}
