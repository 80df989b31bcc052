//! Collections whose items keep their order.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, LinkedList, VecDeque};

/// A collection whose items always come in the same order: in every process, and also after the
/// collection was stored as JSON and read back.
///
/// A durable run that is resumed goes through the items of a loop once more, and takes the results
/// that it has for the first, the second and so on. So it loops over such collections only. Those
/// of the standard library are all of this kind but `HashSet` and `HashMap`, whose order is another
/// one in each process. Implement it for a collection of your own if the order of its items follows
/// from its JSON.
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
