//! The conditions of a branch, evaluated in order.

use std::sync::Arc;

use flow_runtime::NodeError;
use flow_runtime::engine::{Failed, Failure, Scope};
use serde_json::Value;

use crate::condition::{Condition, Evaluation};
use crate::level::{Level, Node, RouteIndex};
use crate::place::Around;
use crate::run::give_way::give_way;
use crate::run::state::written;

/// The route of the first condition that holds.
pub(crate) async fn first_that_holds(
    level: &Level,
    node: &Node,
    scope: &Scope<'_>,
    cases: &[(Arc<Condition>, RouteIndex)],
    around: Around<'_>,
) -> Result<Option<RouteIndex>, Failed> {
    let (found, took_long) = {
        let failed = |reason: String| {
            let path = scope.frame().path().to_string();
            Failed::from(NodeError::new(path, 1, Failure::Returned(reason.into())))
        };
        let values = values(level, node, around).map_err(failed)?;
        let conditions = cases.iter().map(|(condition, _)| &**condition);
        let evaluation = Evaluation::new(conditions, &values);
        let mut found = None;
        for (condition, route) in cases {
            if evaluation.holds(condition).map_err(failed)? {
                found = Some(*route);
                break;
            }
        }
        (found, evaluation.took_long())
    };
    if took_long {
        give_way().await;
    }
    Ok(found)
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
