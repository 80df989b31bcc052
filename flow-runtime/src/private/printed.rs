//! `Debug` of inputs and outputs, which requires nothing of the types of their fields.

use std::fmt;

/// Prints a field if its type can be printed: `(&Printed(&value)).field()`. The method of the more
/// specific receiver is found first.
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
    /// A placeholder.
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
