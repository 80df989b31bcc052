//! The open folder, and how one file in it is opened.

use std::io::{self, Read as _};
use std::sync::Mutex;
use std::time::Duration;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, File, FileType, OpenOptions};

use super::error::{FileError, beginning};
use super::path::FolderPath;

/// The open folder with its limits.
pub(super) struct Root {
    pub(super) dir: Dir,
    /// Held during a change, so that two concurrent edits of a file do not undo each other.
    pub(super) change: Mutex<()>,
}

/// The limits of reading and of results.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) file_bytes: u64,
    pub(super) result_characters: usize,
    pub(super) search_time: Duration,
}

/// The beginning of a file.
pub(super) struct Beginning {
    pub(super) bytes: Vec<u8>,
    /// The size of the whole file, if known: some files of the system are longer than they report.
    pub(super) size: u64,
}

impl Beginning {
    /// The number of bytes that follow.
    pub(super) fn left(&self) -> u64 {
        self.size - self.bytes.len() as u64
    }

    /// The beginning as text. If the file continues, a partial character at the end is left out.
    pub(super) fn text(&self) -> Option<&str> {
        let text = match std::str::from_utf8(&self.bytes) {
            Ok(text) => text,
            Err(error) if error.error_len().is_none() && self.left() > 0 => {
                std::str::from_utf8(&self.bytes[..error.valid_up_to()]).ok()?
            }
            Err(_) => return None,
        };
        (!text.contains('\0')).then_some(text)
    }
}

impl Root {
    /// Reads the beginning of a file, up to a maximum number of bytes.
    pub(super) fn read(&self, path: &FolderPath, most: u64) -> Result<Beginning, FileError> {
        let text = path.as_text();
        let failed = |source| FileError::of(&text, "read", source);
        let is = self
            .dir
            .metadata(path.to_path())
            .map_err(failed)?
            .file_type();
        if !is.is_file() {
            return Err(wrong_kind(&text, is, "a file"));
        }
        let opened = open(&self.dir, &path.to_path(), FollowSymlinks::Yes).map_err(failed)?;
        let opened = opened.ok_or_else(|| wrong_kind(&text, is, "a file"))?;
        beginning_of(opened, most).map_err(failed)
    }
}

/// Opens a file for reading. `None` if it is something else: a pipe or a device would block.
pub(super) fn open(
    dir: &Dir,
    path: &std::path::Path,
    links: FollowSymlinks,
) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true).nonblock(true).follow(links);
    let file = dir.open_with(path, &options)?;
    let is_file = file.metadata()?.is_file();
    Ok(is_file.then_some(file))
}

/// Reads the beginning of an open file, up to a maximum number of bytes.
pub(super) fn beginning_of(file: File, most: u64) -> io::Result<Beginning> {
    let size = file.metadata()?.len();
    let mut bytes = Vec::new();
    let mut file = file.take(most.saturating_add(1));
    file.read_to_end(&mut bytes)?;
    let size = size.max(bytes.len() as u64);
    bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok(Beginning { bytes, size })
}

/// The error for an unexpected kind of file at a path.
pub(super) fn wrong_kind(path: &str, found: FileType, wanted: &'static str) -> FileError {
    let path = beginning(path);
    let found = if found.is_dir() {
        "a folder"
    } else if found.is_file() {
        "a file"
    } else if found.is_symlink() {
        "a link"
    } else {
        "a pipe, a device or another special file"
    };
    FileError::Kind {
        path,
        found,
        wanted,
    }
}
