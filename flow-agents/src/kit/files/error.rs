//! Why a tool for files did not do what it was asked.

use std::io;

use super::super::text::{counted, grouped, shortened};

/// Why a tool for files did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// A path that is not written as one below the folder.
    #[error("the path {path:?} is refused: {reason}")]
    Path {
        /// The beginning of the path.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A path that a link leads out of the folder.
    #[error("the path {path:?} is refused: a link in it leads out of the folder")]
    Outside {
        /// The beginning of the path.
        path: String,
    },
    /// There is nothing at this path.
    #[error("there is nothing at {path:?}")]
    NotFound {
        /// The beginning of the path.
        path: String,
    },
    /// Something else than what the tool works on, such as a folder in place of a file.
    #[error("{path:?} is {found}, and {wanted} is needed")]
    Kind {
        /// The beginning of the path.
        path: String,
        /// What is there.
        found: &'static str,
        /// What the tool works on.
        wanted: &'static str,
    },
    /// A file that is not text in UTF-8.
    #[error("{path:?} is not text but binary: it has {}", counted(*.bytes, "byte", "bytes"))]
    Binary {
        /// The beginning of the path.
        path: String,
        /// The size of the file.
        bytes: u64,
    },
    /// A file or a content that is larger than
    /// [`Folder::max_file_bytes`](super::Folder::max_file_bytes).
    #[error(
        "{path:?} is too large: {}, and at most {} are allowed",
        counted(*.bytes, "byte", "bytes"),
        grouped(*.most)
    )]
    TooLarge {
        /// The beginning of the path.
        path: String,
        /// The size that it has or would have.
        bytes: u64,
        /// The largest size.
        most: u64,
    },
    /// A file that may not be written.
    #[error("{path:?} is read-only")]
    ReadOnly {
        /// The beginning of the path.
        path: String,
    },
    /// A text to be replaced that is not in the file exactly once, or a replacement that changes
    /// nothing.
    #[error("{path:?} is not changed: {reason}")]
    Edit {
        /// The beginning of the path.
        path: String,
        /// Why it is not.
        reason: String,
    },
    /// A folder that is not empty.
    #[error("{path:?} is a folder that is not empty; to remove all that is in it, say `recursive`")]
    NotEmpty {
        /// The beginning of the path.
        path: String,
    },
    /// A pattern that cannot be read, or that is too large.
    #[error("the pattern {pattern:?} is refused: {reason}")]
    Pattern {
        /// The beginning of the pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A line number or a count of lines that is zero.
    #[error("`{argument}` is counted from 1")]
    Zero {
        /// `offset` or `limit`.
        argument: &'static str,
    },
    /// The operating system refuses, such as for a lack of permission or of space.
    #[error("{path:?} cannot be {doing}: {source}")]
    Io {
        /// The beginning of the path.
        path: String,
        /// What was being done, such as `read`.
        doing: &'static str,
        /// What the operating system says.
        source: io::Error,
    },
    /// The program is about to end.
    #[error("the program is about to end")]
    Ending,
}

/// The beginning of a path or a pattern, for an error.
pub(super) fn beginning(text: &str) -> String {
    shortened(text, 200)
}

impl FileError {
    /// What an operation at a path says of an error of the operating system.
    pub(super) fn of(path: &str, doing: &'static str, source: io::Error) -> FileError {
        let path = beginning(path);
        match source.kind() {
            // An error of the operating system would have a number.
            io::ErrorKind::PermissionDenied if source.raw_os_error().is_none() => {
                FileError::Outside { path }
            }
            io::ErrorKind::NotFound => FileError::NotFound { path },
            io::ErrorKind::NotADirectory => {
                let reason = "a part of it is not a folder";
                FileError::Path { path, reason }
            }
            io::ErrorKind::InvalidFilename => {
                let reason = "a name in it is too long";
                FileError::Path { path, reason }
            }
            _ => FileError::Io {
                path,
                doing,
                source,
            },
        }
    }
}
