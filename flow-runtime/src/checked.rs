//! Checks of types whose errors rustc reports once.
//!
//! A type that does not fit is used in many places: as a field, in the state, across each `.await`.
//! rustc would report each of them. But it reports a type with an error only once. So generated
//! code names `<T as Checked<{ <T as SharedByRuns>::CHECK }>>::Type`: this is `T`, or an error if
//! the check does not compile.

use std::future::{Future, Pending, pending};
use std::marker::PhantomData;

/// The type, if the check in the constant compiles.
pub trait Checked<const CHECK: usize> {
    /// The type.
    type Type;
}

impl<T> Checked<0> for T {
    type Type = T;
}

/// Types whose values can be in a flow. They are `Send`, because a run moves between threads.
///
/// Instead of `Rc<T>`, write `Arc<T>`; instead of `Box<dyn Trait>`, `Box<dyn Trait + Send>`, or
/// `trait Trait: Send` where the trait is defined.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a value of a flow: a run goes from thread to thread",
    label = "is not `Send`",
    note = "for `Rc`, write `Arc`; for `dyn Trait`, write `dyn Trait + Send + Sync`, or `trait Trait: Send + Sync` where \
            the trait is defined"
)]
pub trait GoesBetweenThreads {
    /// Compiles for such types only.
    const CHECK: usize = 0;
}

#[diagnostic::do_not_recommend]
impl<T: Send> GoesBetweenThreads for T {}

/// Types that can be nodes. They are `Send + Sync`, because the runs of a flow share the node
/// between threads.
///
/// Look at the fields of the type. Instead of `RefCell<T>`, write `Mutex<T>`; instead of `Rc<T>`,
/// `Arc<T>`; instead of `Box<dyn Trait>`, `Box<dyn Trait + Send + Sync>`, or
/// `trait Trait: Send + Sync` where the trait is defined.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a node of a flow: its runs share the node between threads",
    label = "is not `Send + Sync`",
    note = "look at its fields: for `RefCell`, write `Mutex`; for `Rc`, `Arc`; for `dyn Trait`, `dyn Trait + Send + Sync`, \
            or `trait Trait: Send + Sync` where the trait is defined"
)]
pub trait SharedByRuns {
    /// Compiles for such types only.
    const CHECK: usize = 0;
}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync> SharedByRuns for T {}

/// Types that nodes can read by reference. They are `Sync`, because a run that waits may move to
/// another thread and take the reference along.
///
/// Instead of `RefCell<T>`, write `Mutex<T>`; instead of `Cell<T>`, an atomic. Better still, let
/// the node take the value and return the new one. For a type that is not [`Send`], the mistake is
/// where the value comes from.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read by reference: a run goes from thread to thread",
    label = "is not `Sync`",
    note = "take the value, and return the new one",
    note = "or for `RefCell`, write `Mutex`; for `Cell`, an atomic; for `dyn Trait`, `dyn Trait + Send + Sync`"
)]
pub trait ReadByReference<const IS_SENT: bool> {
    /// Compiles for such types only.
    const CHECK: usize = 0;
}

#[diagnostic::do_not_recommend]
impl<T: Sync> ReadByReference<true> for T {}

#[diagnostic::do_not_recommend]
impl<T> ReadByReference<false> for T {}

/// The types that a node reads.
///
/// If one of them is not [`Send`], no flow can have such a value. The mistake is then where the
/// value comes from: another node or an input. The node itself should not report that its future is
/// not [`Send`], for the same reason.
pub struct Reads<T>(PhantomData<T>);

impl<T: Send> Reads<T> {
    /// The types can be sent.
    pub const __IS_SENT: bool = true;

    /// Returns the future unchanged.
    #[inline]
    pub fn __sent<F: Future>(future: F) -> F {
        future
    }
}

/// The fallback for all other types that a node reads.
pub trait ReadsOthers: Sized {
    /// The types cannot be sent.
    const __IS_SENT: bool = false;

    /// Does not compile in a program that uses it.
    const REFUSED: () = panic!("a node reads a value that cannot go from thread to thread");

    /// Returns a future in place of the node's own, which must not be reported.
    fn __sent<F: Future>(_: F) -> Pending<F::Output> {
        () = Self::REFUSED;
        pending()
    }
}

impl<T> ReadsOthers for Reads<T> {}
