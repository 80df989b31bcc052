//! The files of one folder. Whatever a model asks for, nothing outside the folder is read or
//! changed.

mod all;
mod change;
mod error;
mod folder;
mod grep;
mod lines;
mod look;
mod path;
mod read;
mod reading;
mod root;
mod walk;
mod writing;

pub use error::FileError;
pub use folder::Folder;
pub use reading::{FsGlob, FsGrep, FsLs, FsRead};
pub use writing::{FsEdit, FsMkdir, FsRemove, FsWrite};
