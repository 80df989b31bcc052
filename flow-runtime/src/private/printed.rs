//! `Debug` of inputs and outputs, which requires nothing of the types of their fields.

use std::fmt;

/// Prints a field if its type can be printed: `(&Printed(&value)).__field()`. The method of the
/// more specific receiver takes precedence.
pub struct Printed<'a, T>(pub &'a T);

/// Types that implement `Debug`.
pub trait PrintedDebug {
    /// The value.
    fn __field(&self) -> &dyn fmt::Debug;
}

impl<T: fmt::Debug> PrintedDebug for &Printed<'_, T> {
    fn __field(&self) -> &dyn fmt::Debug {
        self.0
    }
}

/// The fallback for all other types.
pub trait PrintedOpaque {
    /// A placeholder.
    fn __field(&self) -> &dyn fmt::Debug;
}

impl<T> PrintedOpaque for Printed<'_, T> {
    fn __field(&self) -> &dyn fmt::Debug {
        struct Opaque;
        impl fmt::Debug for Opaque {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("…")
            }
        }
        &Opaque
    }
}

/// Prints the fields of a struct, or of a variant.
pub fn printed(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    fields: &[(&str, &dyn fmt::Debug)],
) -> fmt::Result {
    let mut printed = f.debug_struct(name);
    for (name, value) in fields {
        printed.field(name, value);
    }
    printed.finish()
}

/// Prints a struct without its fields.
pub fn printed_without_fields(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    f.debug_struct(name).finish_non_exhaustive()
}
