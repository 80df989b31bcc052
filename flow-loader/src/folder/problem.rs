//! Problems of files.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use flow_spec::visible;

/// A problem of a file of a [`Folder`](crate::Folder), or of the folder.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileProblem {
    /// A mistake in a document.
    Document {
        /// The path of the file.
        path: PathBuf,
        /// The mistake, with its line and its column.
        problem: Box<flow_text::Problem>,
    },
    /// The file or folder could not be read or watched.
    Unreadable {
        /// The path of the file or folder.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// The file or folder is refused.
    Refused {
        /// The path of the file or folder.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

impl FileProblem {
    /// Returns the path of the file or folder.
    pub fn path(&self) -> &Path {
        match self {
            FileProblem::Document { path, .. }
            | FileProblem::Unreadable { path, .. }
            | FileProblem::Refused { path, .. } => path,
        }
    }

    pub(super) fn refused(path: &Path, reason: impl Into<String>) -> Self {
        FileProblem::Refused {
            path: path.to_owned(),
            reason: reason.into(),
        }
    }

    pub(super) fn unreadable(path: &Path, source: impl Into<io::Error>) -> Self {
        FileProblem::Unreadable {
            path: path.to_owned(),
            source: source.into(),
        }
    }
}

/// Formats the problem as compilers do: the path, the line and the column, and the mistake.
impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&visible(&self.path().display().to_string()))?;
        match self {
            FileProblem::Document { problem, .. } => write!(f, ":{problem}"),
            FileProblem::Unreadable { source, .. } => write!(f, ": {source}"),
            FileProblem::Refused { reason, .. } => write!(f, ": {reason}"),
        }
    }
}

impl Error for FileProblem {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            FileProblem::Unreadable { source, .. } => source.source(),
            FileProblem::Document { .. } | FileProblem::Refused { .. } => None,
        }
    }
}
