//! Errors of the tools for files.

use std::io;

use super::super::text::{counted, grouped, shortened};

/// The reason why a tool for files refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// A path that is not valid below the folder.
    #[error("the path {path:?} is refused: {reason}")]
    Path {
        /// The beginning of the path.
        path: String,
        /// The reason why it is refused.
        reason: &'static str,
    },
    /// A path with a link that leads out of the folder.
    #[error("the path {path:?} is refused: a link in it leads out of the folder")]
    Outside {
        /// The beginning of the path.
        path: String,
    },
    /// A path at which nothing exists.
    #[error("there is nothing at {path:?}")]
    NotFound {
        /// The beginning of the path.
        path: String,
    },
    /// A path to something else than the tool works on, such as a folder instead of a file.
    #[error("{path:?} is {found}, and {wanted} is needed")]
    Kind {
        /// The beginning of the path.
        path: String,
        /// The kind found.
        found: &'static str,
        /// The kind that the tool works on.
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
        /// The size, current or intended.
        bytes: u64,
        /// The maximum size.
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
        /// The reason.
        reason: String,
    },
    /// A folder that is not empty.
    #[error("{path:?} is a folder that is not empty; to remove all that is in it, say `recursive`")]
    NotEmpty {
        /// The beginning of the path.
        path: String,
    },
    /// A pattern that is invalid or too large.
    #[error("the pattern {pattern:?} is refused: {reason}")]
    Pattern {
        /// The beginning of the pattern.
        pattern: String,
        /// The reason why it is refused.
        reason: String,
    },
    /// A line number or a count of lines that is zero.
    #[error("`{argument}` is counted from 1")]
    Zero {
        /// `offset` or `limit`.
        argument: &'static str,
    },
    /// An error of the operating system, such as missing permission or space.
    #[error("{path:?} cannot be {doing}: {source}")]
    Io {
        /// The beginning of the path.
        path: String,
        /// The operation, such as `read`.
        doing: &'static str,
        /// The error.
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
    /// Converts an error of the operating system about an operation at a path.
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
