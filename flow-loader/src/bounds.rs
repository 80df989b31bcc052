//! What the nodes of a registry have to be.
//!
//! No program implements or names these traits: they are here because rustc names them in its
//! messages, and each says what to do then.

use crate::adapter::Make;

/// What says how the value of a node is made, which is a `T`: anything but [`Nothing`].
///
/// A node of a type with fields needs a value. `registry![Ask = Ask { … }]` gives one; without it, the
/// type has to derive `serde::Deserialize`, so that the `params` of a document say it, or
/// [`Default`].
#[diagnostic::on_unimplemented(
    message = "nothing says what the value of `{T}` is",
    label = "has no value",
    note = "register it with a value, `{T} = …`, or derive `Default` or `serde::Deserialize` for it",
    note = "with `serde::Deserialize`, the `params` of a document say what it is"
)]
pub trait SaysValueOf<T> {
    /// How the value is made.
    #[doc(hidden)]
    fn made(self) -> Make;
}

#[diagnostic::do_not_recommend]
impl<T> SaysValueOf<T> for Make {
    fn made(self) -> Make {
        self
    }
}

/// What is known of the value of a type that is registered without one, and that no document can make.
#[derive(Debug)]
pub struct Nothing;
