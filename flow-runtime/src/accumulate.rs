//! Values to which nodes add.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};

/// Types to which a node can add a value of the type `R`: see
/// [`+key`](crate::language#adding-to-a-value).
///
/// | type | what can be added |
/// |---|---|
/// | `Vec<T>`, `VecDeque<T>` | a `T`, a `Vec<T>` (or a `VecDeque<T>`), an `Option<T>` |
/// | `BTreeSet<T>`, `HashSet<T>` | a `T`, such a set, an `Option<T>` |
/// | `BTreeMap<K, V>`, `HashMap<K, V>` | a pair `(K, V)`, such a map. The new value of a key replaces the old one |
/// | `String` | a `String` |
/// | integers, `f32`, `f64` | a number of the same type: the sum |
///
/// # Examples
///
/// A type of your own:
///
/// ```
/// use flow_runtime::Accumulate;
/// use flow_runtime::prelude::*;
///
/// #[derive(Default)]
/// struct Usage {
///     calls: u64,
///     tokens: u64,
/// }
///
/// impl Accumulate<u64> for Usage {
///     fn add(&mut self, tokens: u64) {
///         self.calls += 1;
///         self.tokens += tokens;
///     }
/// }
///
/// /// Adds the tokens that it has used.
/// #[node(writes(summary, +usage))]
/// fn summarize(text: &str) -> (String, u64) {
///     (text.chars().take(10).collect(), text.len() as u64)
/// }
///
/// #[node(writes(title, +usage))]
/// fn entitle(summary: &str) -> (String, u64) {
///     (summary.to_uppercase(), summary.len() as u64)
/// }
///
/// flow! {
///     Headline(text: String) -> (title: String, usage: Usage) {
///         start >> summarize >> entitle >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
/// let output = Headline::new().run(HeadlineInput { text: "railways and canals".into() }).await?;
/// assert_eq!(output.title, "RAILWAYS A");
/// assert_eq!((output.usage.calls, output.usage.tokens), (2, 29));
/// # Ok(()) }
/// ```
pub trait Accumulate<R> {
    /// Adds a value.
    ///
    /// # Panics
    ///
    /// The implementations for integers panic if the sum is out of range.
    fn add(&mut self, more: R);
}

macro_rules! accumulate {
    ($([$($generics:tt)*] $type:ty, $more:ty: |$this:ident, $value:ident| $add:expr;)*) => {$(
        impl<$($generics)*> Accumulate<$more> for $type {
            #[inline]
            fn add(&mut self, $value: $more) {
                let $this = self;
                $add;
            }
        }
    )*};
}

accumulate! {
    [T] Vec<T>, T: |list, item| list.push(item);
    [T] Vec<T>, Vec<T>: |list, items| list.extend(items);
    [T] Vec<T>, Option<T>: |list, item| list.extend(item);
    [T] VecDeque<T>, T: |list, item| list.push_back(item);
    [T] VecDeque<T>, VecDeque<T>: |list, items| list.extend(items);
    [T] VecDeque<T>, Vec<T>: |list, items| list.extend(items);
    [T] VecDeque<T>, Option<T>: |list, item| list.extend(item);
    [T: Ord] BTreeSet<T>, T: |set, item| set.extend([item]);
    [T: Ord] BTreeSet<T>, BTreeSet<T>: |set, items| set.extend(items);
    [T: Ord] BTreeSet<T>, Option<T>: |set, item| set.extend(item);
    [T: Eq + Hash, S: BuildHasher] HashSet<T, S>, T: |set, item| set.extend([item]);
    [T: Eq + Hash, S: BuildHasher] HashSet<T, S>, HashSet<T, S>: |set, items| set.extend(items);
    [T: Eq + Hash, S: BuildHasher] HashSet<T, S>, Option<T>: |set, item| set.extend(item);
    [K: Ord, V] BTreeMap<K, V>, (K, V): |map, pair| map.extend([pair]);
    [K: Ord, V] BTreeMap<K, V>, BTreeMap<K, V>: |map, pairs| map.extend(pairs);
    [K: Eq + Hash, V, S: BuildHasher] HashMap<K, V, S>, (K, V): |map, pair| map.extend([pair]);
    [K: Eq + Hash, V, S: BuildHasher] HashMap<K, V, S>, HashMap<K, V, S>: |map, pairs| map.extend(pairs);
    [] String, String: |text, more| text.push_str(&more);
    [] f32, f32: |sum, more| *sum += more;
    [] f64, f64: |sum, more| *sum += more;
}

macro_rules! accumulate_integers {
    ($($type:ty)*) => {$(
        impl Accumulate<$type> for $type {
            #[inline]
            fn add(&mut self, more: $type) {
                match self.checked_add(more) {
                    Some(sum) => *self = sum,
                    None => panic!(concat!("the sum {} + {} is out of the range of `", stringify!($type), "`"), self, more),
                }
            }
        }
    )*};
}

accumulate_integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);
