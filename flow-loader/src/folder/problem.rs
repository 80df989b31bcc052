//! What is wrong with a file.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use flow_spec::visible;

/// What is wrong with a file of a [`Folder`](crate::Folder), or with the folder.
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
    /// It could not be read or watched.
    Unreadable {
        /// The path of the file or folder.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// It is not read.
    Refused {
        /// The path of the file or folder.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl FileProblem {
    /// The path of the file or folder.
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

/// As compilers write it: the path, the line and the column, and what is wrong.
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
