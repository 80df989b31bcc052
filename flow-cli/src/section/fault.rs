//! The reasons why a file cannot be read.

use std::fmt;

/// The version of the layout of records that this crate reads.
pub const LAYOUT: u32 = 1;

/// The problem of a file and, if the file is an archive, the member that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SectionError {
    /// The names of the members that lead to the place, the outermost first.
    pub members: Vec<String>,
    /// The problem there.
    pub fault: Fault,
}

/// The problem of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The file is of another kind, which is named here.
    NotBinary(&'static str),
    /// Its headers do not fit its bytes.
    Damaged(String),
    /// A record is invalid.
    Record {
        /// The offset of the record from the beginning of the file, in bytes.
        offset: u64,
        /// The problem of the record.
        what: String,
    },
    /// A record has a layout that this version does not know.
    Newer {
        /// The version of the layout.
        version: u32,
    },
}

/// The end of a sentence that begins with the name of the file.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::NotBinary(what) => {
                write!(f, "is neither a binary nor a flow document: it is {what}")
            }
            Fault::Damaged(how) => write!(f, "is truncated or damaged: {how}"),
            Fault::Record { offset, what } => {
                write!(f, "has a broken record at byte {offset}: {what}")
            }
            Fault::Newer { version } => write!(
                f,
                "has flows in a newer format: version {version}; this cargo-flow reads {LAYOUT}"
            ),
        }
    }
}

impl From<Fault> for SectionError {
    fn from(fault: Fault) -> Self {
        SectionError {
            members: Vec::new(),
            fault,
        }
    }
}

impl SectionError {
    /// Returns the error with the archive around it.
    pub(super) fn inside(mut self, member: String) -> Self {
        self.members.insert(0, member);
        self
    }
}

impl fmt::Display for SectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for member in &self.members {
            write!(f, "{member}: ")?;
        }
        self.fault.fmt(f)
    }
}

impl std::error::Error for SectionError {}
