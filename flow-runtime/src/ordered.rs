//! Collections whose items keep their order.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, LinkedList, VecDeque};

/// A collection whose items always come in the same order: in every process, and even after the
/// collection was stored as JSON and read back.
///
/// A durable run that is resumed goes through the items of a loop again, and takes the results that
/// it has for the first, the second and so on. So it loops only over such collections. The
/// collections of the standard library are ordered, except `HashSet` and `HashMap`, whose order
/// differs in each process. Implement this for a collection of your own if its JSON determines the
/// order of its items.
///
/// # Examples
///
/// ```
/// use flow_runtime::Ordered;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Lines(Vec<String>);
///
/// impl<'a> IntoIterator for &'a Lines {
///     type Item = &'a String;
///     type IntoIter = std::slice::Iter<'a, String>;
///
///     fn into_iter(self) -> Self::IntoIter {
///         self.0.iter()
///     }
/// }
///
/// impl Ordered for Lines {}
/// ```
pub trait Ordered {}

macro_rules! ordered {
    ($([$($generics:tt)*] $collection:ty,)*) => {$(
        impl<$($generics)*> Ordered for $collection {}
    )*};
}
ordered! {
    [T] Vec<T>,
    [T] VecDeque<T>,
    [T] LinkedList<T>,
    [T] BTreeSet<T>,
    [T] BinaryHeap<T>,
    [T] Option<T>,
    [T] Box<[T]>,
    [T, const N: usize] [T; N],
    [K, V] BTreeMap<K, V>,
}

#[cfg(feature = "stored")]
impl Ordered for serde_json::Map<String, serde_json::Value> {}

/// The order of items that an engine requires of loops: [`AnyOrder`] or [`SameOrder`].
pub trait LoopOrder: Send + Sync {
    /// True if the items of a loop have to come in the same order whenever a flow runs again.
    const HAS_TO_STAY: bool;
}

/// Any order: a run goes through the items of a loop only once.
#[derive(Debug)]
pub struct AnyOrder;

impl LoopOrder for AnyOrder {
    const HAS_TO_STAY: bool = false;
}

/// An order that stays the same: a run may go through the items of a loop again, as after a crash.
/// So the collection is [`Ordered`].
#[derive(Debug)]
pub struct SameOrder;

impl LoopOrder for SameOrder {
    const HAS_TO_STAY: bool = true;
}

/// An order that the items of a `C` can have: each collection has [`AnyOrder`], and one that is
/// [`Ordered`] has [`SameOrder`].
#[diagnostic::on_unimplemented(
    message = "a durable run cannot loop over `{C}`, whose items may have another order after a restart",
    label = "has such a loop",
    note = "loop over a `Vec`, a `BTreeSet` or a `BTreeMap`; a plain `run` loops over every collection",
    note = "for a collection of your own whose items keep their order, write `impl flow_runtime::Ordered for …`"
)]
pub trait OrderOf<C> {}

#[diagnostic::do_not_recommend]
impl<C> OrderOf<C> for AnyOrder {}

#[diagnostic::do_not_recommend]
impl<C: Ordered> OrderOf<C> for SameOrder {}

/// A collection whose JSON is the list of its items in their order. Each part of that list is such
/// a collection, too. A loop `with spread(…)` goes over such collections.
#[diagnostic::on_unimplemented(
    message = "the items of `{Self}` cannot be spread over workers",
    label = "the loop goes over `{Self}`",
    note = "loop over a `Vec`, a `VecDeque` or a `BTreeSet`",
    note = "for a collection of your own that is a list in JSON, write `impl flow_runtime::Sequence for …`"
)]
pub trait Sequence: Ordered {
    /// The number of items.
    #[doc(hidden)]
    fn __items(&self) -> usize
    where
        for<'a> &'a Self: IntoIterator,
    {
        match self.into_iter().size_hint() {
            (least, Some(most)) if least == most => least,
            _ => self.into_iter().count(),
        }
    }
}

impl<T> Sequence for Vec<T> {}
impl<T> Sequence for VecDeque<T> {}
impl<T> Sequence for LinkedList<T> {}
impl<T> Sequence for BTreeSet<T> {}
impl<T> Sequence for Box<[T]> {}
