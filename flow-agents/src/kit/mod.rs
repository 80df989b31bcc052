//! Tools that come with the crate. Each one is a node: a function, or a type with its settings.

mod arithmetic;
#[cfg(feature = "time")]
mod clock;
mod exact;
#[cfg(feature = "fetch")]
mod fetch;
#[cfg(feature = "files")]
mod files;
mod operation;
#[cfg(any(feature = "fetch", feature = "files", feature = "time"))]
mod text;

pub use arithmetic::{CalculatorError, calculator};
#[cfg(feature = "time")]
pub use clock::{CurrentTime, TimeError};
#[cfg(feature = "fetch")]
pub use fetch::{Fetch, FetchError};
#[cfg(feature = "files")]
pub use files::{
    FileError, Folder, FsEdit, FsGlob, FsGrep, FsLs, FsMkdir, FsRead, FsRemove, FsWrite,
};
pub use operation::Operation;
