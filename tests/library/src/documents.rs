//! What documents may use of this library.

use flow_loader::{Registry, registry as registered};

use crate::desk::end_politely;
use crate::nodes::{Lookup, answer, classify};

/// The nodes of the [desk](crate::Desk), which looks things up in this book. Only the library can
/// register those that are private.
pub fn registry(book: Lookup) -> Registry {
    registered![classify, Lookup = book, answer, end_politely]
}
