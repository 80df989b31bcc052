//! The conditions of a branch, one after the other.

use flow_runtime::NodeError;
use flow_runtime::engine::{Failed, Failure, Scope};
use serde_json::Value;

use crate::condition::Condition;
use crate::level::{Level, Node, RouteIndex};
use crate::place::Around;
use crate::run::state::written;

/// The route of the first condition that holds.
pub(crate) fn first_that_holds(
    level: &Level,
    node: &Node,
    scope: &Scope<'_>,
    cases: &[(Condition, RouteIndex)],
    around: Around<'_>,
) -> Result<Option<RouteIndex>, Failed> {
    let failed = |reason: String| {
        let path = scope.frame().path().to_string();
        Failed::from(NodeError::new(path, 1, Failure::Returned(reason.into())))
    };
    let values = values(level, node, around).map_err(failed)?;
    for (condition, route) in cases {
        if condition.holds(&values).map_err(failed)? {
            return Ok(Some(*route));
        }
    }
    Ok(None)
}

/// The values that the conditions read, as JSON.
fn values<'a>(
    level: &Level,
    node: &'a Node,
    around: Around<'_>,
) -> Result<Vec<(&'a str, Value)>, String> {
    let mut values = Vec::new();
    for read in &node.ports.reads {
        let value = match read.key.and_then(|key| Some((key, around.get(key)?))) {
            Some((key, value)) => {
                let value = written(&read.name, level.key(key).ty, value);
                value.map_err(|unstorable| unstorable.to_string())?
            }
            _ => Value::Null,
        };
        values.push((read.name.as_str(), value));
    }
    Ok(values)
}
