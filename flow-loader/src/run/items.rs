//! The items of a loop.

use flow_runtime::engine::Unstorable;
use serde_json::Value;

use crate::cell::AnyValue;
use crate::level::{Kind, Level, Node};
use crate::place::{Around, ItemPort};
use crate::run::state::written;
use crate::value::{ItemValue, Shown};

/// The read of the body that receives the item. `None` if it does not read the item.
pub(crate) fn item_port(body: &Node, item: &str) -> Option<ItemPort> {
    let mut reads = body.ports.reads.iter();
    let read = reads.position(|read| read.name == item)?;
    let (ty, untyped) = match &body.kind {
        Kind::Step { adapter, .. } => (adapter.reads.get(read).and_then(|port| port.ty), false),
        Kind::Flow(inner) => {
            let key = inner.inputs[read].key;
            (key.map(|key| inner.key(key).ty), inner.is_untyped(key))
        }
        _ => (None, false),
    };
    Some(ItemPort { read, ty, untyped })
}

/// The items of a loop, and the function that shows them. If the collection is JSON, or the body
/// reads any JSON, they are read from JSON.
pub(crate) fn items<'s>(
    level: &Level,
    node: &Node,
    around: Around<'s>,
    port: Option<ItemPort>,
) -> Result<(Vec<ItemValue<'s>>, Option<Shown>), Unstorable> {
    let found = node.ports.reads[0]
        .key
        .map(|key| (level.key(key), around.get(key)));
    let Some((key, Some(value))) = found else {
        unreachable!("the analysis accepted a read of a key that is not written")
    };
    match key.ty.items {
        Some(items) if !port.is_some_and(|port| port.untyped) => {
            return Ok(((items.all)(value), items.display));
        }
        Some(_) => {}
        None if key.untyped => {}
        None => unreachable!("loading checks that a loop has a collection"),
    }
    let unfit = |reason: String| Unstorable {
        key: key.name.clone(),
        reason,
    };
    let Value::Array(all) = written(&key.name, key.ty, value)? else {
        return Err(unfit("it is not a list".to_owned()));
    };
    let item = |item: Value| match port.and_then(|port| port.ty?.json) {
        Some(json) => (json.read)(item).map_err(|error| unfit(error.to_string())),
        None => Ok(AnyValue::new(item)),
    };
    let all = all
        .into_iter()
        .map(|value| Ok(ItemValue::Owned(item(value)?)));
    Ok((all.collect::<Result<_, _>>()?, None))
}
