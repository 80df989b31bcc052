//! The tools of a folder as sets.

use super::folder::Folder;
use super::reading::{FsGlob, FsGrep, FsLs, FsRead};
use super::writing::{FsEdit, FsMkdir, FsRemove, FsWrite};
use crate::tools;
use crate::tools::Tools;

impl Folder {
    /// All eight tools: `fs_ls`, `fs_glob`, `fs_grep`, `fs_read`, `fs_write`, `fs_edit`, `fs_mkdir`
    /// and `fs_remove`.
    ///
    /// # Examples
    /// ```
    /// use flow_agents::kit::{Folder, calculator};
    /// use flow_agents::{Tools, tools};
    ///
    /// # let notes = tempfile::tempdir()?;
    /// let folder = Folder::open(notes.path())?;
    /// let mut tools: Tools = tools![calculator];
    /// tools.extend(&folder.reading_tools())?;
    /// assert_eq!(
    ///     tools.names().collect::<Vec<_>>(),
    ///     ["calculator", "fs_ls", "fs_glob", "fs_grep", "fs_read"]
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tools(&self) -> Tools {
        tools![
            FsLs = FsLs::new(self),
            FsGlob = FsGlob::new(self),
            FsGrep = FsGrep::new(self),
            FsRead = FsRead::new(self),
            FsWrite = FsWrite::new(self),
            FsEdit = FsEdit::new(self),
            FsMkdir = FsMkdir::new(self),
            FsRemove = FsRemove::new(self),
        ]
    }

    /// The four tools that change nothing: `fs_ls`, `fs_glob`, `fs_grep` and `fs_read`.
    pub fn reading_tools(&self) -> Tools {
        tools![
            FsLs = FsLs::new(self),
            FsGlob = FsGlob::new(self),
            FsGrep = FsGrep::new(self),
            FsRead = FsRead::new(self),
        ]
    }
}
