//! Passes on values: from the state to a node, from a collection to the loop over it, to another
//! thread.
//!
//! Each way is a trait or a function of its own so that the error for a type that does not fit is
//! in our words.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

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

/// As [`get`], for a value that nothing reads later.
#[inline]
pub fn take<T>(slot: &mut Option<T>) -> T {
    match slot.take() {
        Some(value) => value,
        None => unassigned(),
    }
}

/// The value in the first place if it was written there, or else that in the second.
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

/// Types that can be read as `Option<&str>`, `Option<&[T]>` and the like: those that dereference to
/// what is read, as `String` does to `str`.
///
/// If a type is not one of them, read it as `Option<&T>` with the type `T` that the flow has.
#[diagnostic::on_unimplemented(
    message = "mismatched types: this node reads an `Option<&str>`, `Option<&[T]>` or the like, and the flow has `{Self}`",
    label = "reads another type"
)]
pub trait ReadsAs {
    /// The type as which it is read.
    type Target: ?Sized;
    /// The value in that form.
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

/// Types as which a node behind an `"error"` edge reads the key `error`: [`NodeError`].
///
/// Write `error: &NodeError`. Its text is `error.to_string()`, and
/// [`downcast_ref`](NodeError::downcast_ref) gives the error that the failed node returned.
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

/// The type of a parameter that is the run's context, as its name says: [`Context`].
///
/// A node reads a key of another type with that name by a name of its own: `type Other = own::Context;`
/// and `&Other`.
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

/// Compiles only if something holds. rustc prints nothing but what is said otherwise, and no name of
/// a trait.
///
/// # Panics
/// When the program is compiled, if it does not hold.
#[track_caller]
pub const fn must(holds: bool, otherwise: &str) {
    if !holds {
        panic!("{}", otherwise)
    }
}

/// Whether values of a type can be cloned, and how: what is more specific is found first.
pub struct CloneOf<T>(PhantomData<T>);

impl<T: Clone> CloneOf<T> {
    /// They can.
    pub const __IS_CLONE: bool = true;

    /// The clone.
    #[inline]
    pub fn __of(value: &T) -> T {
        value.clone()
    }
}

/// For all other types: a constant beside each use says what is wrong.
pub trait NoClone {
    /// The type.
    type Value;
    /// They cannot.
    const __IS_CLONE: bool = false;

    /// Never called.
    fn __of(_: &Self::Value) -> Self::Value {
        unreachable!("a program that clones what is not `Clone` does not compile")
    }
}

impl<T> NoClone for CloneOf<T> {
    type Value = T;
}

/// Whether values of a type can be printed, and how: what is more specific is found first.
pub struct Prints<T>(PhantomData<T>);

impl<T: fmt::Display> Prints<T> {
    /// They can.
    pub const __IS_DISPLAY: bool = true;

    /// The value.
    #[inline]
    pub fn __shown(value: &T) -> &dyn fmt::Display {
        value
    }
}

/// For all other types: a constant beside each use says what is wrong.
pub trait NoDisplay {
    /// The type.
    type Value;
    /// They cannot.
    const __IS_DISPLAY: bool = false;

    /// Never called.
    fn __shown(_: &Self::Value) -> &dyn fmt::Display {
        unreachable!("a program that prints what is not `Display` does not compile")
    }
}

impl<T> NoDisplay for Prints<T> {
    type Value = T;
}

/// Whether two types are one, and a value of the one as one of the other: what is more specific is
/// found first.
pub struct SameType<A, B: ?Sized>(PhantomData<(A, PhantomData<B>)>);

impl<T> SameType<T, T> {
    /// They are.
    pub const __IS_SAME: bool = true;

    /// The value.
    #[inline]
    pub fn __of(value: T) -> T {
        value
    }
}

/// For all other pairs: a constant beside each use says what is wrong.
pub trait OtherType {
    /// The first type.
    type First;
    /// The second type.
    type Second: ?Sized;
    /// They are not.
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

/// Whether a type dereferences to another one: what is more specific is found first.
pub struct DerefsTo<A, B: ?Sized>(PhantomData<(A, PhantomData<B>)>);

impl<A: Deref<Target = B>, B: ?Sized> DerefsTo<A, B> {
    /// It does.
    pub const __HOLDS: bool = true;
}

/// For all other pairs.
pub trait NoDeref {
    /// It does not.
    const __HOLDS: bool = false;
}

impl<A, B: ?Sized> NoDeref for DerefsTo<A, B> {}

/// As [`DerefsTo`], by way of a third type.
pub struct DerefsTwiceTo<A, B: ?Sized>(PhantomData<(A, PhantomData<B>)>);

impl<A: Deref<Target: Deref<Target = B>>, B: ?Sized> DerefsTwiceTo<A, B> {
    /// It does.
    pub const __HOLDS: bool = true;
}

/// For all other pairs.
pub trait NoDerefTwice {
    /// It does not.
    const __HOLDS: bool = false;
}

impl<A, B: ?Sized> NoDerefTwice for DerefsTwiceTo<A, B> {}

/// Lends a value of type `A` to a node that reads a `&B`: `(&&&&Lend::<A, B>(value, PhantomData)).__lend()`.
/// The method of the more specific receiver is found first.
pub struct Lend<'a, A, B: ?Sized>(pub &'a A, pub PhantomData<B>);

/// If the types are the same.
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

/// If the first type dereferences to the second one.
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

/// If the first type dereferences to the second one by way of a third.
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

/// For all other pairs: a constant beside each use says what is wrong.
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

/// Values that a node with `retry` can take: they are cloned for each attempt, so they are `Clone`.
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

/// Values that a node with `blocking` can read by reference: it works on another thread, with a
/// clone, so they are `Clone`.
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

/// Items of a collection that the body of a loop can take by value: it takes clones, so they are
/// `Clone`.
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

/// Whether a type is a `Result`, whatever its name: the constant of the more specific receiver is
/// found first.
pub struct ResultCheck<T>(PhantomData<T>);

impl<T, E> ResultCheck<Result<T, E>> {
    /// The type is a `Result`.
    pub const __IS_RESULT: bool = true;
}

/// For all other types.
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
