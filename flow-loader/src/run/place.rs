//! Where a node runs, and so where the values are that it reads and writes.

use std::any::Any;
use std::fmt::Display;

use flow_runtime::engine::Unstorable;
use serde_json::Value;

use crate::args::{Taken, Values};
use crate::level::{KeyIndex, Kind, Level, Node, NodeIndex};
use crate::run::state::{LoadedState, Own, written};
use crate::value::{AnyValue, ItemValue, Shown, ValueType};

/// Where a node runs, which decides where its values are.
pub(crate) enum Place<'s> {
    Loop(&'s mut LoadedState),
    /// In a branch of a fork, which sees the state as it was at the fork and what it writes itself.
    Branch(&'s LoadedState, &'s mut Own),
    /// Where others read the same values: in a loop over items.
    Shared(Around<'s>),
}

/// What a node sees.
#[derive(Clone, Copy)]
pub(crate) struct Around<'s> {
    pub(crate) state: &'s LoadedState,
    pub(crate) own: Option<&'s Own>,
    pub(crate) item: Option<&'s Item<'s>>,
}

/// The item that the body of a loop reads.
pub(crate) struct Item<'s> {
    pub(crate) value: &'s (dyn Any + Sync),
    pub(crate) port: ItemPort,
    /// How it is shown.
    pub(crate) display: Option<Shown>,
}

/// Where and how the body of a loop reads the item.
#[derive(Clone, Copy)]
pub(crate) struct ItemPort {
    /// The number of the read.
    read: usize,
    /// The type as which the body takes it. `None` if it cannot take it.
    ty: Option<&'static ValueType>,
    /// True if the body is a flow that reads any JSON.
    untyped: bool,
}

/// The values of a visit.
pub(crate) struct Visited<'s> {
    pub(crate) level: &'s Level,
    pub(crate) at: NodeIndex,
    pub(crate) place: Place<'s>,
}

impl Values for Visited<'_> {
    fn taken(&mut self, read: usize) -> Option<Taken<'_>> {
        self.place.taken(self.level, self.at, read)
    }

    fn value(&self, read: usize) -> Option<&(dyn Any + Sync)> {
        self.place.around().value(self.level, self.at, read)
    }

    fn shown(&self, read: usize) -> Option<&(dyn Display + Send + Sync)> {
        self.place.around().shown(self.level, self.at, read)
    }

    fn write(&mut self, number: usize, value: AnyValue) {
        if let Some(key) = self.level.node(self.at).writes[number] {
            self.place.set(key, value);
        }
    }
}

impl Visited<'_> {
    /// The values as the inputs of this flow, which the node is.
    pub(crate) fn inputs(mut self, inner: &Level) -> Result<Vec<Option<AnyValue>>, Unstorable> {
        let mut inputs = Vec::with_capacity(inner.inputs.len());
        for (read, input) in inner.inputs.iter().enumerate() {
            let value = self.taken(read).map(|taken| match taken {
                Taken::Moved(value) => value,
                Taken::Copied(value, ty) => ty.cloned_box(value),
            });
            let from = self.level.node(self.at).reads[read].key;
            inputs.push(match (value, from) {
                (Some(value), Some(key)) if inner.is_untyped(input.key) && !value.is::<Value>() => {
                    let ty = self.level.key(key).ty;
                    Some(Box::new(written(&input.name, ty, &*value)?) as AnyValue)
                }
                (value, _) => value,
            });
        }
        Ok(inputs)
    }
}

impl Place<'_> {
    #[inline]
    pub(crate) fn around(&self) -> Around<'_> {
        match self {
            Place::Loop(state) => Around::of(state, None),
            Place::Branch(base, own) => Around::of(base, Some(own)),
            Place::Shared(around) => *around,
        }
    }

    /// The same place, for a while.
    #[inline]
    pub(crate) fn reborrow(&mut self) -> Place<'_> {
        match self {
            Place::Loop(state) => Place::Loop(state),
            Place::Branch(base, own) => Place::Branch(base, own),
            Place::Shared(around) => Place::Shared(*around),
        }
    }

    #[inline]
    pub(crate) fn set(&mut self, key: KeyIndex, value: AnyValue) {
        match self {
            Place::Loop(state) => state.cells_mut().set(key, value),
            Place::Branch(_, own) => own.set(key, value),
            Place::Shared(_) => unreachable!("what the body of a loop returns is collected"),
        }
    }

    /// A value that the node takes. `None` if there is none.
    #[inline]
    pub(crate) fn taken(&mut self, level: &Level, at: NodeIndex, read: usize) -> Option<Taken<'_>> {
        if let Place::Shared(around) = self
            && let Some(item) = around.item_at(read)
        {
            return item.port.ty.map(|ty| Taken::Copied(item.value, ty));
        }
        let node = level.node(at);
        let port = &node.reads[read];
        let key = port.key?;
        let value = match self {
            Place::Loop(state) if port.moves => {
                return state.cells_mut().remove(key).map(Taken::Moved);
            }
            Place::Loop(state) => state.cells().get(key),
            Place::Branch(base, own) => {
                // Unless the next attempt takes it as well.
                if !node.repeats() {
                    match own.take(at, read) {
                        Some(taken) => return taken.map(Taken::Moved),
                        None if port.moves && own.get(key).is_some() => {
                            return own.remove(key).map(Taken::Moved);
                        }
                        None => {}
                    }
                }
                let value = own.taken(at, read).or_else(|| own.get(key));
                value.or_else(|| base.cells().get(key))
            }
            Place::Shared(around) => around.get(key),
        };
        value.map(|value| Taken::Copied(&**value, level.key(key).ty))
    }
}

impl<'s> Around<'s> {
    #[inline]
    fn of(state: &'s LoadedState, own: Option<&'s Own>) -> Self {
        Around {
            state,
            own,
            item: None,
        }
    }

    #[inline]
    pub(crate) fn get(&self, key: KeyIndex) -> Option<&'s AnyValue> {
        let own = self
            .own
            .and_then(|own| own.get(key).or_else(|| own.moved(key)));
        own.or_else(|| self.state.cells().get(key))
    }

    /// The item, if it is this read of the body.
    #[inline]
    fn item_at(&self, read: usize) -> Option<&'s Item<'s>> {
        self.item.filter(|item| item.port.read == read)
    }

    /// The value of a read.
    #[inline]
    pub(crate) fn value(
        &self,
        level: &Level,
        at: NodeIndex,
        read: usize,
    ) -> Option<&'s (dyn Any + Sync)> {
        match self.item_at(read) {
            Some(item) => Some(item.value),
            None => Some(&**self.get(level.node(at).reads[read].key?)?),
        }
    }

    /// The value of a read as it is shown.
    pub(crate) fn shown(
        &self,
        level: &Level,
        at: NodeIndex,
        read: usize,
    ) -> Option<&'s (dyn Display + Send + Sync)> {
        let display = match self.item_at(read) {
            Some(item) => item.display,
            None => level.key(level.node(at).reads[read].key?).ty.display,
        };
        match display {
            Some(display) => Some(display(self.value(level, at, read)?)),
            None => unreachable!("loading checks that what a prompt shows can be shown"),
        }
    }
}

impl ItemPort {
    /// The read of the body that is the item. `None` if it does not read the item.
    pub(crate) fn of(body: &Node, item: &str) -> Option<Self> {
        let read = body.reads.iter().position(|read| read.name == item)?;
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
}

/// The items of a loop, and how they are shown. If the collection is JSON, or the body reads any
/// JSON, they are read from JSON.
pub(crate) fn items<'s>(
    level: &Level,
    node: &Node,
    around: Around<'s>,
    port: Option<ItemPort>,
) -> Result<(Vec<ItemValue<'s>>, Option<Shown>), Unstorable> {
    let found = node.reads[0]
        .key
        .map(|key| (level.key(key), around.get(key)));
    let Some((key, Some(value))) = found else {
        unreachable!("the analysis accepted a read of a key that is not written")
    };
    match key.ty.items {
        Some(items) if !port.is_some_and(|port| port.untyped) => {
            return Ok(((items.all)(&**value), items.display));
        }
        Some(_) => {}
        None if key.untyped => {}
        None => unreachable!("loading checks that a loop has a collection"),
    }
    let unfit = |reason: String| Unstorable {
        key: key.name.clone(),
        reason,
    };
    let Value::Array(all) = written(&key.name, key.ty, &**value)? else {
        return Err(unfit("it is not a list".to_owned()));
    };
    let item = |item: Value| match port.and_then(|port| port.ty?.json) {
        Some(json) => (json.read)(item).map_err(|error| unfit(error.to_string())),
        None => Ok(Box::new(item) as AnyValue),
    };
    let all = all
        .into_iter()
        .map(|value| Ok(ItemValue::Owned(item(value)?)));
    Ok((all.collect::<Result<_, _>>()?, None))
}
