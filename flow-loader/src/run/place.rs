//! Where a node runs, and so where the values are that it reads and writes.

use std::any::Any;
use std::fmt::Display;

use flow_spec::Take;

use crate::args::{Arg, Args};
use crate::level::{KeyIndex, Kind, Level, Node, NodeIndex, Read};
use crate::run::state::{LoadedState, Own, cloned};
use crate::value::{AnyValue, Shown};

/// Where a node runs, which decides where its values are.
pub(crate) enum Place<'s> {
    Loop(&'s mut LoadedState),
    /// In a branch of a fork, which sees the state as it was at the fork and what it writes itself.
    Branch(&'s LoadedState, &'s mut Own),
}

/// What the body of a loop over items sees.
#[derive(Clone, Copy)]
pub(crate) struct Around<'s> {
    pub(crate) state: &'s LoadedState,
    pub(crate) own: Option<&'s Own>,
}

impl Place<'_> {
    pub(crate) fn set(&mut self, key: KeyIndex, value: AnyValue) {
        match self {
            Place::Loop(state) => state.cells_mut().set(key, value),
            Place::Branch(_, own) => own.set(key, value),
        }
    }

    pub(crate) fn around(&self) -> Around<'_> {
        match self {
            Place::Loop(state) => Around { state, own: None },
            Place::Branch(base, own) => Around {
                state: base,
                own: Some(own),
            },
        }
    }
}

impl<'s> Around<'s> {
    pub(crate) fn get(&self, read: &Read) -> Option<&'s AnyValue> {
        let key = read.key?;
        let own = self
            .own
            .and_then(|own| own.get(key).or_else(|| own.moved(key)));
        own.or_else(|| self.state.cells().get(key))
    }
}

/// The values that a prompt shows.
pub(crate) fn shown<'s>(
    level: &Level,
    node: &Node,
    around: Around<'s>,
    item: Option<(&str, &'s (dyn Display + Send + Sync))>,
) -> Args<'s> {
    let arg = |read: &Read| match (around.get(read), read.key) {
        _ if item.is_some_and(|(name, _)| name == read.name) => match item {
            Some((_, item)) => Arg::Shown(item),
            None => Arg::Missing,
        },
        (Some(value), Some(key)) => match level.key(key).ty.display {
            Some(display) => Arg::Shown(display(&**value)),
            None => unreachable!("loading checks that what a prompt shows can be shown"),
        },
        _ => Arg::Missing,
    };
    Args(node.reads.iter().map(arg).collect())
}

/// The values that a node reads: first those that it takes, then those that it borrows.
pub(crate) fn gathered<'s>(level: &Level, at: NodeIndex, place: &'s mut Place<'_>) -> Args<'s> {
    let node = level.node(at);
    let mut args: Vec<Arg<'s>> = node.reads.iter().map(|_| Arg::Missing).collect();
    for (index, read) in node.reads.iter().enumerate() {
        if !read.mode.takes() {
            continue;
        }
        let Some(key) = read.key else { continue };
        let moves = read.take == Take::Move && !node.repeats();
        let value = match place {
            Place::Loop(state) if moves => state.cells_mut().remove(key),
            Place::Loop(state) => state.cells().cloned(key),
            // The next attempt takes it as well.
            Place::Branch(base, own) if node.repeats() => {
                let value = own.taken(at, index);
                let value = value
                    .or_else(|| own.get(key))
                    .or_else(|| base.cells().get(key));
                value.map(|value| cloned(level, key, value))
            }
            Place::Branch(base, own) => match own.take(at, index) {
                Some(taken) => taken,
                None if moves && own.get(key).is_some() => own.remove(key),
                None => {
                    let value = own.get(key).or_else(|| base.cells().get(key));
                    value.map(|value| cloned(level, key, value))
                }
            },
        };
        args[index] = value.map_or(Arg::Missing, Arg::Owned);
    }
    let place: &'s Place<'_> = place;
    let around = place.around();
    for (arg, read) in args.iter_mut().zip(&node.reads) {
        if let (false, Some(value)) = (read.mode.takes(), around.get(read)) {
            *arg = Arg::Borrowed(&**value);
        }
    }
    Args(args)
}

/// The values that the body of a loop over items reads. It cannot change the state.
pub(crate) fn for_item<'s>(
    level: &Level,
    node: &Node,
    around: Around<'s>,
    item: &'s (dyn Any + Sync),
    reads_item: impl Fn(usize) -> bool,
) -> Args<'s> {
    let arg = |(index, read): (usize, &Read)| {
        if reads_item(index) {
            return if read.mode.takes() {
                Arg::Owned(clone_of_item(node, index, item))
            } else {
                Arg::Borrowed(item)
            };
        }
        match (around.get(read), read.key) {
            (Some(value), Some(key)) if read.mode.takes() => Arg::Owned(cloned(level, key, value)),
            (Some(value), _) => Arg::Borrowed(&**value),
            (None, _) => Arg::Missing,
        }
    };
    Args(node.reads.iter().enumerate().map(arg).collect())
}

/// A clone of the item, for a body that takes it.
fn clone_of_item(node: &Node, read: usize, item: &dyn Any) -> AnyValue {
    let ty = match &node.kind {
        Kind::Step { adapter, .. } => adapter.reads[read].ty,
        Kind::Flow(inner) => inner.inputs[read].key.map(|key| inner.key(key).ty),
        _ => None,
    };
    match ty.and_then(|ty| ty.clone) {
        Some(clone) => clone(item),
        None => unreachable!("loading checks that an item that is taken is `Clone`"),
    }
}

/// The items of a loop, and how they are shown.
pub(crate) fn items<'s>(
    level: &Level,
    node: &Node,
    around: Around<'s>,
) -> (Vec<&'s (dyn Any + Sync)>, Option<Shown>) {
    let read = &node.reads[0];
    match (around.get(read), read.key) {
        (Some(value), Some(key)) => match level.key(key).ty.items {
            Some(items) => ((items.all)(&**value), items.display),
            None => unreachable!("loading checks that a loop has a collection"),
        },
        _ => unreachable!("the analysis accepted a read of a key that is not written"),
    }
}
