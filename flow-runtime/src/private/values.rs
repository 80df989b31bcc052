//! Passes on values: from the state to a node, from a collection to the loop over it, to another
//! thread.
//!
//! Each way is a trait or a function of its own, so that we word the error for a type that does not
//! fit.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use crate::accumulate::Accumulate;
use crate::context::Context;
use crate::node_error::NodeError;

/// A value that the analysis found to be written on every path.
#[inline]
pub fn get<T>(slot: &Option<T>) -> &T {
    match slot {
        Some(value) => value,
        None => unassigned(),
    }
}

/// Like [`get`], for a value that nothing reads later.
#[inline]
pub fn take<T>(slot: &mut Option<T>) -> T {
    match slot.take() {
        Some(value) => value,
        None => unassigned(),
    }
}

/// The value in the first slot if it was written there, or else the one in the second.
#[inline]
pub fn either<'a, T>(own: &'a Option<T>, base: &'a Option<T>) -> &'a T {
    match own {
        Some(value) => value,
        None => get(base),
    }
}

/// Like [`get`], for a borrowed value.
#[inline]
pub fn written<T>(value: Option<&T>) -> &T {
    match value {
        Some(value) => value,
        None => unassigned(),
    }
}

/// An optional output that every path to this end writes.
pub fn at_end<T>(value: Option<T>, output: &str, end: &str) -> T {
    match value {
        Some(value) => value,
        None => panic!("the output `{output}` is missing, which is always there at end \"{end}\""),
    }
}

#[cold]
#[inline(never)]
fn unassigned() -> ! {
    unreachable!("the analysis accepted a read of a key that is not written")
}

/// Types that can be read as `Option<&str>`, `Option<&[T]>` and the like. They dereference to the
/// type that is read, as `String` does to `str`.
///
/// Read any other type as `Option<&T>`, with the type `T` that the flow has.
#[diagnostic::on_unimplemented(
    message = "mismatched types: this node reads an `Option<&str>`, `Option<&[T]>` or the like, and the flow has `{Self}`",
    label = "reads another type"
)]
pub trait ReadsAs {
    /// The type that it is read as.
    type Target: ?Sized;
    /// The value as that type.
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

/// Types that a node behind an `"error"` edge reads the key `error` as: [`NodeError`].
///
/// Write `error: &NodeError`. Its text is `error.to_string()`, and
/// [`downcast_ref`](NodeError::downcast_ref) returns the error that the failed node returned.
#[diagnostic::on_unimplemented(
    message = "`error` is a `NodeError`, and this node reads it as `{Self}`",
    label = "reads `error` as another type",
    note = "write `error: &NodeError`: `error.to_string()` is its text, and `error.downcast_ref::<E>()` the error that the \
            failed node returned, if it is an `E`"
)]
pub trait ReadsError {
    /// The error.
    fn borrowed(error: &NodeError) -> &Self;
    /// The error, for a node that takes it.
    fn taken(error: NodeError) -> Self
    where
        Self: Sized;
}

#[diagnostic::do_not_recommend]
impl ReadsError for NodeError {
    #[inline]
    fn borrowed(error: &NodeError) -> &Self {
        error
    }

    #[inline]
    fn taken(error: NodeError) -> Self {
        error
    }
}

/// The type of a parameter whose name marks it as the run's context: [`Context`].
///
/// To read a key of another type with that name, give the type a name of its own:
/// `type Other = own::Context;` and `&Other`.
#[diagnostic::on_unimplemented(
    message = "the parameter `&Context` of a node is the run's context, and `{Self}` is another type",
    label = "is not the run's context",
    note = "to read a key of this type, give the type a name of its own: `type Other = …;` and `&Other`"
)]
pub trait RunContext {
    /// The context.
    fn of(context: &Context) -> &Self;
}

#[diagnostic::do_not_recommend]
impl RunContext for Context {
    #[inline]
    fn of(context: &Context) -> &Self {
        context
    }
}

/// Compiles only if `holds` is true. rustc prints nothing but `otherwise`, and no name of a trait.
///
/// # Panics
/// At compile time, if `holds` is false.
#[track_caller]
pub const fn must(holds: bool, otherwise: &str) {
    if !holds {
        panic!("{}", otherwise)
    }
}

/// Clones values of a type, if it is `Clone`. Inherent items take precedence over the trait's.
pub struct CloneOf<T>(PhantomData<T>);

impl<T: Clone> CloneOf<T> {
    /// The type is `Clone`.
    pub const __IS_CLONE: bool = true;

    /// The clone.
    #[inline]
    pub fn __of(value: &T) -> T {
        value.clone()
    }
}

/// The fallback for all other types. A constant beside each use reports the mistake.
pub trait NoClone {
    /// The type.
    type Value;
    /// The type is not `Clone`.
    const __IS_CLONE: bool = false;

    /// Never called.
    fn __of(_: &Self::Value) -> Self::Value {
        unreachable!("a program that clones what is not `Clone` does not compile")
    }
}

impl<T> NoClone for CloneOf<T> {
    type Value = T;
}

/// Adds values of one type to those of another, if that is possible. Inherent items take precedence
/// over the trait's.
pub struct AddOf<T, R>(PhantomData<(T, R)>);

impl<T: Accumulate<R>, R> AddOf<T, R> {
    /// A value can be added.
    pub const __ADDS: bool = true;

    /// Adds a value to one that the analysis found to be written on every path.
    #[inline]
    pub fn __add(slot: &mut Option<T>, more: R) {
        match slot {
            Some(value) => value.add(more),
            None => unassigned(),
        }
    }
}

/// The fallback for all other pairs. A constant beside each use reports the mistake.
pub trait AddsNothing {
    /// The first type.
    type Value;
    /// The second type.
    type More;
    /// No value can be added.
    const __ADDS: bool = false;

    /// Never called.
    fn __add(_: &mut Option<Self::Value>, _: Self::More) {
        unreachable!("a program that adds what cannot be added does not compile")
    }
}

impl<T, R> AddsNothing for AddOf<T, R> {
    type Value = T;
    type More = R;
}

/// Begins the value of a key to which a node adds, if its type has a default. Inherent items take
/// precedence over the trait's.
pub struct BeginOf<T>(PhantomData<T>);

impl<T: Default> BeginOf<T> {
    /// There is a first value.
    pub const __BEGINS: bool = true;

    /// Writes the first value, unless there is one.
    #[inline]
    pub fn __begin(slot: &mut Option<T>) {
        if slot.is_none() {
            *slot = Some(T::default());
        }
    }
}

/// The fallback for all other types. A constant beside each use reports the mistake.
pub trait BeginsNowhere {
    /// The type.
    type Value;
    /// There is no first value.
    const __BEGINS: bool = false;

    /// Never called.
    fn __begin(_: &mut Option<Self::Value>) {
        unreachable!("a program that begins a value without a default does not compile")
    }
}

impl<T> BeginsNowhere for BeginOf<T> {
    type Value = T;
}

/// Prints values of a type, if it is `Display`. Inherent items take precedence over the trait's.
pub struct Prints<T>(PhantomData<T>);

impl<T: fmt::Display> Prints<T> {
    /// The type is `Display`.
    pub const __IS_DISPLAY: bool = true;

    /// The value.
    #[inline]
    pub fn __shown(value: &T) -> &dyn fmt::Display {
        value
    }
}

/// The fallback for all other types. A constant beside each use reports the mistake.
pub trait NoDisplay {
    /// The type.
    type Value;
    /// The type is not `Display`.
    const __IS_DISPLAY: bool = false;

    /// Never called.
    fn __shown(_: &Self::Value) -> &dyn fmt::Display {
        unreachable!("a program that prints what is not `Display` does not compile")
    }
}

impl<T> NoDisplay for Prints<T> {
    type Value = T;
}

/// Passes on a value of one type as the other, if both types are the same. Inherent items take
/// precedence over those of the trait.
pub struct SameType<A, B: ?Sized>(PhantomData<(A, PhantomData<B>)>);

impl<T> SameType<T, T> {
    /// The types are the same.
    pub const __IS_SAME: bool = true;

    /// The value.
    #[inline]
    pub fn __of(value: T) -> T {
        value
    }
}

/// The fallback for all other pairs. A constant beside each use reports the mistake.
pub trait OtherType {
    /// The first type.
    type First;
    /// The second type.
    type Second: ?Sized;
    /// The types differ.
    const __IS_SAME: bool = false;

    /// Never called.
    fn __of(_: Self::First) -> Self::Second
    where
        Self::Second: Sized,
    {
        unreachable!("a program that writes two types under one key does not compile")
    }
}

impl<A, B: ?Sized> OtherType for SameType<A, B> {
    type First = A;
    type Second = B;
}

/// Tests if a type dereferences to another one. Inherent items take precedence over the trait's.
pub struct DerefsTo<A, B: ?Sized>(PhantomData<(A, PhantomData<B>)>);

impl<A: Deref<Target = B>, B: ?Sized> DerefsTo<A, B> {
    /// The first type dereferences to the second one.
    pub const __HOLDS: bool = true;
}

/// The fallback for all other pairs.
pub trait NoDeref {
    /// The first type does not dereference to the second one.
    const __HOLDS: bool = false;
}

impl<A, B: ?Sized> NoDeref for DerefsTo<A, B> {}

/// Like [`DerefsTo`], through a third type.
pub struct DerefsTwiceTo<A, B: ?Sized>(PhantomData<(A, PhantomData<B>)>);

impl<A: Deref<Target: Deref<Target = B>>, B: ?Sized> DerefsTwiceTo<A, B> {
    /// The first type dereferences to the second one.
    pub const __HOLDS: bool = true;
}

/// The fallback for all other pairs.
pub trait NoDerefTwice {
    /// The first type does not dereference to the second one.
    const __HOLDS: bool = false;
}

impl<A, B: ?Sized> NoDerefTwice for DerefsTwiceTo<A, B> {}

/// Lends a value of type `A` to a node that reads a `&B`:
/// `(&&&&Lend::<A, B>(value, PhantomData)).__lend()`. The method of the more specific receiver
/// takes precedence.
pub struct Lend<'a, A, B: ?Sized>(pub &'a A, pub PhantomData<B>);

/// Implemented if the types are the same.
pub trait LendSame<'a> {
    /// The type.
    type Type: ?Sized;
    /// The value.
    fn __lend(&self) -> &'a Self::Type;
}

impl<'a, T> LendSame<'a> for &&&Lend<'a, T, T> {
    type Type = T;
    #[inline]
    fn __lend(&self) -> &'a T {
        self.0
    }
}

/// Implemented if the first type dereferences to the second one.
pub trait LendTarget<'a> {
    /// The second type.
    type Type: ?Sized;
    /// The value.
    fn __lend(&self) -> &'a Self::Type;
}

impl<'a, A: Deref<Target = B>, B: ?Sized> LendTarget<'a> for &&Lend<'a, A, B> {
    type Type = B;
    #[inline]
    fn __lend(&self) -> &'a B {
        self.0
    }
}

/// Implemented if the first type dereferences to the second one through a third.
pub trait LendTargetOfTarget<'a> {
    /// The second type.
    type Type: ?Sized;
    /// The value.
    fn __lend(&self) -> &'a Self::Type;
}

impl<'a, A, B: ?Sized> LendTargetOfTarget<'a> for &Lend<'a, A, B>
where
    A: Deref<Target: Deref<Target = B> + 'a>,
{
    type Type = B;
    #[inline]
    fn __lend(&self) -> &'a B {
        self.0
    }
}

/// The fallback for all other pairs. A constant beside each use reports the mistake.
pub trait LendOther<'a> {
    /// The second type.
    type Type: ?Sized;
    /// Never called.
    fn __lend(&self) -> &'a Self::Type {
        unreachable!("a program that reads a key as another type does not compile")
    }
}

impl<'a, A, B: ?Sized> LendOther<'a> for Lend<'a, A, B> {
    type Type = B;
}

/// Values that a node with `retry` can take. They are `Clone`, because each attempt gets a clone.
///
/// Derive `Clone` for the type, or let the node read it by reference.
#[diagnostic::on_unimplemented(
    message = "a node that is retried clones what it takes, and `{Self}` is not `Clone` [F012]",
    label = "taken by each attempt",
    note = "read it by reference, as `&{Self}`, or derive `Clone` for it"
)]
pub trait Cloneable: Sized {
    /// The clone.
    fn for_attempt(&self) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Clone> Cloneable for T {
    fn for_attempt(&self) -> Self {
        self.clone()
    }
}

/// Values that a node with `blocking` can read by reference. They are `Clone`, because the node
/// works on another thread, with a clone.
///
/// Derive `Clone` for the type, or share its values as an `Arc`.
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

/// Items of a collection that the body of a loop can take by value. They are `Clone`, because the
/// body takes clones.
///
/// Derive `Clone` for the type of the items, or let the body read its item by reference.
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

/// A lower bound on the number of items.
#[inline]
pub fn count(items: &impl Iterator) -> usize {
    items.size_hint().0
}

/// Tests if a type is a `Result`, whatever its name. The inherent constant takes precedence over
/// that of the trait.
pub struct ResultCheck<T>(PhantomData<T>);

impl<T, E> ResultCheck<Result<T, E>> {
    /// The type is a `Result`.
    pub const __IS_RESULT: bool = true;
}

/// The fallback for all other types.
pub trait NoResult {
    /// The type is not a `Result`.
    const __IS_RESULT: bool = false;
}

impl<T> NoResult for ResultCheck<T> {}

/// Types that a node can return under any name: all but `Result`, whose error would be a value like
/// any other.
///
/// Write `Result<T, E>` as the return type, or a path that ends in `Result`, such as
/// `io::Result<T>`.
#[diagnostic::on_unimplemented(
    message = "this is a `Result` under another name, so its error would be lost [F016]",
    label = "a `Result` under another name",
    note = "write it as `Result<…>`, or as a path that ends in `Result`"
)]
pub trait LosesNoError<const IS_RESULT: bool> {
    /// Compiles for such types only.
    const CHECK: usize = 0;
}

#[diagnostic::do_not_recommend]
impl<T> LosesNoError<false> for T {}
