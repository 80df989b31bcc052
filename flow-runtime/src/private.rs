//! What generated code refers to. Not part of the public interface: it may change in any release.

use std::fmt;
use std::future::{Future, Ready};
use std::num::NonZeroU32;
use std::ops::Deref;
use std::time::Duration;

pub use flow_macros::{__flow_resolved as flow_resolved, __node_contract as node_contract};
pub use typed_builder;

pub use crate::action::Action;
pub use crate::concurrent::{AtOnce, InOrder, Limit, blocking, join, numbered};
pub use crate::engine::{Direct, Engine, Failed, Hooks, Observed, supervise};
pub use crate::error::{FlowError, NodeError};
pub use crate::flow::{Flow, Route, Target};
pub use crate::options::RunOptions;
pub use crate::policy::{Policy, Retry};
pub use crate::scope::{FlowInfo, Scope};
pub use crate::visit::{Attempts, Visit};

/// A node that is one step: a function, or a type with `exec`.
pub trait Step {
    /// What it returns when it succeeds.
    type Outcome: Send;
    /// Its enum of actions; `()` if it has none.
    type Actions;
    /// Its own settings.
    const POLICY: Policy;
}

/// The type that port number `INDEX` writes: of a node, of an enum of actions, or of a flow used as a node.
pub trait Writes<const INDEX: usize> {
    /// The type.
    type Type;
}

/// A flow, carried out by an engine that can handle the outcomes of all its nodes.
#[diagnostic::on_unimplemented(
    message = "the flow `{Self}` cannot run",
    label = "cannot run",
    note = "its definition has a mistake, which is reported there"
)]
pub trait Drive<E>: Flow {
    /// Runs it to an end.
    fn drive(
        &self,
        engine: &E,
        scope: &Scope<'_>,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, Failed>> + Send;
}

/// What a flow whose definition has errors does instead of running, so that its users see no second error. A sound
/// flow has an inherent method of this name, which comes first.
pub trait Unresolved {
    /// Never called.
    fn __drive<E, T>(
        &self,
        _engine: &E,
        _scope: &Scope<'_>,
        _input: impl Sized,
    ) -> Ready<Result<T, Failed>> {
        unreachable!("a flow whose definition has errors does not compile")
    }
}

impl<F: ?Sized> Unresolved for F {}

/// The `Ok` type of a node's result.
pub trait Fallible {
    /// The value.
    type Ok;
}

impl<T, E> Fallible for Result<T, E> {
    type Ok = T;
}

/// A value that the analysis found to be written on every path.
#[inline]
pub fn get<T>(slot: &Option<T>) -> &T {
    match slot {
        Some(value) => value,
        None => unassigned(),
    }
}

/// As [`get`], for a value that nothing reads later.
#[inline]
pub fn take<T>(slot: &mut Option<T>) -> T {
    match slot.take() {
        Some(value) => value,
        None => unassigned(),
    }
}

#[cold]
#[inline(never)]
fn unassigned() -> ! {
    unreachable!("the analysis accepted a read of a key that is not written")
}

/// Whether a type is a node: asked where a name is used as one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a node",
    label = "not a node",
    note = "a type becomes a node by `#[node]` on an `impl` block with `exec`, a function by `#[node]` on it"
)]
pub trait Node {
    /// Compiles for nodes only.
    const IS_NODE: () = ();
}

/// The value of a node that is used without one.
#[diagnostic::on_unimplemented(
    message = "the node `{Self}` needs a value",
    label = "used without a value",
    note = "declare it, as in `node name: {Self} = value;`, leave out `= value` to make it a setting of the flow, or \
            implement `Default` for it"
)]
pub trait DefaultNode: Sized {
    /// The value.
    fn default_node() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> DefaultNode for T {
    fn default_node() -> Self {
        T::default()
    }
}

/// Prints a field if its type can be printed: `(&Printed(&value)).field()`. The method of the more specific
/// receiver is found first.
pub struct Printed<'a, T>(pub &'a T);

/// For types that implement `Debug`.
pub trait PrintedDebug {
    /// The value.
    fn field(&self) -> &dyn fmt::Debug;
}

impl<T: fmt::Debug> PrintedDebug for &Printed<'_, T> {
    fn field(&self) -> &dyn fmt::Debug {
        self.0
    }
}

/// For all other types.
pub trait PrintedOpaque {
    /// A stand-in.
    fn field(&self) -> &dyn fmt::Debug;
}

impl<T> PrintedOpaque for Printed<'_, T> {
    fn field(&self) -> &dyn fmt::Debug {
        struct Opaque;
        impl fmt::Debug for Opaque {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("…")
            }
        }
        &Opaque
    }
}

/// A retry policy whose numbers the macro has checked.
pub const fn retry(
    attempts: u32,
    wait: Duration,
    backoff: f64,
    max_wait: Duration,
    jitter: f64,
) -> Retry {
    let Some(attempts) = NonZeroU32::new(attempts) else {
        panic!("the macro checks that there is an attempt")
    };
    Retry {
        attempts,
        wait,
        backoff,
        max_wait,
        jitter,
    }
}

/// The node's error of a step that failed, if that is why it did not succeed.
#[expect(
    clippy::boxed_local,
    reason = "a step's failure is boxed wherever it goes"
)]
pub fn node_error(failed: Failed) -> Result<NodeError, Failed> {
    match *failed {
        FlowError::Node(error) => Ok(error),
        other => Err(Box::new(other)),
    }
}

/// What can be read as `Option<&str>` and the like: as [`Deref`], in our words.
#[diagnostic::on_unimplemented(
    message = "mismatched types: this node reads an `Option<&str>`, `Option<&[T]>` or the like, and the flow has `{Self}`",
    label = "reads another type"
)]
pub trait ReadsAs {
    /// What it is read as.
    type Target: ?Sized;
    /// The value, read so.
    fn read(&self) -> &Self::Target;
}

#[diagnostic::do_not_recommend]
impl<T: Deref> ReadsAs for T {
    type Target = T::Target;
    #[inline]
    fn read(&self) -> &T::Target {
        self
    }
}

/// A clone of what a node takes, for each of its attempts.
#[diagnostic::on_unimplemented(
    message = "a node that is retried clones what it takes, and `{Self}` is not `Clone` [F012]",
    label = "taken by each attempt",
    note = "read it by reference, as `&{Self}`, or derive `Clone` for it"
)]
pub trait CloneForAttempt: Sized {
    /// The clone.
    fn for_attempt(&self) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Clone> CloneForAttempt for T {
    fn for_attempt(&self) -> Self {
        self.clone()
    }
}

/// A flow's names, for the paths of its nodes.
pub trait Described {
    /// The names.
    const INFO: &'static FlowInfo;
}

/// A value that is in the first place, if it was written there, and else in the second.
#[inline]
pub fn either<'a, T>(own: &'a Option<T>, base: &'a Option<T>) -> &'a T {
    match own {
        Some(value) => value,
        None => get(base),
    }
}

/// As [`get`].
#[inline]
pub fn written<T>(value: Option<&T>) -> &T {
    match value {
        Some(value) => value,
        None => unassigned(),
    }
}

/// Whether a poll had no answer in time.
pub fn is_deadline(failed: &Failed) -> bool {
    matches!(&**failed, FlowError::Node(error) if error.is_deadline())
}

/// The result of one item, its failure kept as a value.
pub fn collect<T>(result: Result<T, Failed>) -> Result<Result<T, NodeError>, Failed> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(failed) => node_error(failed).map(Err),
    }
}

/// What a loop over items keeps of each run of a flow.
pub trait Collected: Flow {
    /// It: the one output, or all of them.
    type Item;
    /// Takes it out of the output.
    fn collected(output: Self::Output) -> Self::Item;
}

/// An item of a collection, for a node that takes its items by value.
#[diagnostic::on_unimplemented(
    message = "a node that takes its items is given clones, and `{Self}` cannot be turned into `{T}`",
    label = "takes each item by value",
    note = "read the item by reference, or derive `Clone` for it"
)]
pub trait TakeItem<T> {
    /// The value.
    fn take_item(self) -> T;
}

#[diagnostic::do_not_recommend]
impl<T: Clone> TakeItem<T> for &T {
    #[inline]
    fn take_item(self) -> T {
        self.clone()
    }
}

#[diagnostic::do_not_recommend]
impl<K: Clone, V: Clone> TakeItem<(K, V)> for (&K, &V) {
    #[inline]
    fn take_item(self) -> (K, V) {
        (self.0.clone(), self.1.clone())
    }
}

#[diagnostic::do_not_recommend]
impl<K, V> TakeItem<(K, V)> for (K, V) {
    #[inline]
    fn take_item(self) -> (K, V) {
        self
    }
}

/// The items of a collection.
#[inline]
pub fn items<'a, C>(collection: &'a C) -> <&'a C as IntoIterator>::IntoIter
where
    &'a C: IntoIterator,
{
    collection.into_iter()
}

/// How many items there are at least.
#[inline]
pub fn count(items: &impl Iterator) -> usize {
    items.size_hint().0
}

/// A value of its own for work on another thread.
#[diagnostic::on_unimplemented(
    message = "a `blocking` node is given clones of what it reads, and `{Self}` is not `Clone`",
    label = "read by a blocking node",
    note = "derive `Clone` for it, or share it as an `Arc`"
)]
pub trait OwnedForPool {
    /// The type of the value.
    type Owned: Send + 'static;
    /// The value.
    fn owned(&self) -> Self::Owned;
}

#[diagnostic::do_not_recommend]
impl<T> OwnedForPool for T
where
    T: ToOwned<Owned: Send + 'static> + ?Sized,
{
    type Owned = T::Owned;
    #[inline]
    fn owned(&self) -> T::Owned {
        self.to_owned()
    }
}
