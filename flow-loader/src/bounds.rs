//! Requirements for the nodes of a registry.
//!
//! Programs neither implement nor name these traits. They exist because rustc names them in its
//! messages, and each message says what to do.

use crate::adapter::Make;

/// The source of a node's value of type `T`: anything but [`Nothing`].
///
/// A node of a type with fields needs a value. `registry![Ask = Ask { … }]` gives one. Without it,
/// the type has to derive `serde::Deserialize`, so that a document gives the value in `params`, or
/// [`Default`].
#[diagnostic::on_unimplemented(
    message = "nothing says what the value of `{T}` is",
    label = "has no value",
    note = "register it with a value, `{T} = …`, or derive `Default` or `serde::Deserialize` for it",
    note = "with `serde::Deserialize`, the `params` of a document say what it is"
)]
pub trait SaysValueOf<T> {
    /// Returns the source of the value.
    #[doc(hidden)]
    fn made(self) -> Make;
}

#[diagnostic::do_not_recommend]
impl<T> SaysValueOf<T> for Make {
    fn made(self) -> Make {
        self
    }
}

/// A type that is registered without a value and that no document can make.
#[derive(Debug)]
pub struct Nothing;
