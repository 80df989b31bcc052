//! All files below a folder, in the order of their names. Links are not followed.

use std::path::Path;

use cap_fs_ext::FollowSymlinks;
use cap_std::fs::{Dir, File, FileType};

use super::super::text::{counted, grouped};
use super::error::FileError;
use super::path::FolderPath;
use super::root::{Root, open};

/// The maximum number of entries of a walk. A larger folder is searched in parts.
const MOST_ENTRIES: u64 = 100_000;
/// The maximum depth of folders.
const DEEPEST: usize = 64;

/// An entry of a folder.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) is: FileType,
}

/// The entries of an open folder, by name, and true if there are more than `most`. A name that is
/// not Unicode is written with `�`: such a file can be seen but not opened.
pub(super) fn entries(dir: &Dir, most: u64) -> std::io::Result<(Vec<Entry>, bool)> {
    let mut entries = Vec::new();
    for entry in dir.entries()? {
        if entries.len() as u64 == most {
            sort(&mut entries);
            return Ok((entries, true));
        }
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is = entry.file_type()?;
        entries.push(Entry { name, is });
    }
    sort(&mut entries);
    Ok((entries, false))
}

fn sort(entries: &mut [Entry]) {
    entries.sort_by(|one, other| one.name.cmp(&other.name));
}

/// The parts that a walk left out.
#[derive(Default)]
pub(super) struct Left {
    looked_at: u64,
    is_cut: bool,
    unreadable: u64,
    too_deep: u64,
}

impl Left {
    /// Counts a file or a folder that could not be read.
    pub(super) fn unreadable(&mut self) {
        self.unreadable += 1;
    }

    /// The notes shown after a result.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.is_cut {
            let most = grouped(MOST_ENTRIES);
            notes.push(format!(
                "only {most} files and folders were looked at; name a folder in `path`"
            ));
        }
        if self.unreadable > 0 {
            let what = counted(self.unreadable, "folder or file", "folders or files");
            notes.push(format!("{what} could not be read"));
        }
        if self.too_deep > 0 {
            let what = counted(self.too_deep, "folder", "folders");
            notes.push(format!(
                "{what} more than {DEEPEST} folders deep: not looked into"
            ));
        }
        notes
    }
}

/// A file found by a walk.
pub(super) struct Found<'w> {
    /// The path below the folder of the tools.
    pub(super) path: &'w str,
    /// The path below the start of the walk.
    pub(super) below: &'w str,
    dir: &'w Dir,
    name: &'w str,
}

impl Found<'_> {
    /// Opens the file. `None` if it has become something else meanwhile.
    pub(super) fn open(&self) -> std::io::Result<Option<File>> {
        open(self.dir, Path::new(self.name), FollowSymlinks::No)
    }
}

/// Visits the files below a folder until the visitor returns false.
pub(super) fn walk(
    root: &Root,
    from: &FolderPath,
    visit: &mut dyn FnMut(&Found<'_>, &mut Left) -> bool,
) -> Result<Left, FileError> {
    let text = from.as_text();
    let failed = |source| FileError::of(&text, "read", source);
    let dir = root.dir.open_dir(from.to_path()).map_err(failed)?;
    let mut left = Left::default();
    let start = if from.is_root() {
        String::new()
    } else {
        format!("{text}/")
    };
    let mut walk = Walk {
        visit,
        left: &mut left,
        skip: start.len(),
    };
    let names = walk.names(&dir).map_err(failed)?;
    walk.folder(&dir, names, &start, 1);
    Ok(left)
}

struct Walk<'w> {
    visit: &'w mut dyn FnMut(&Found<'_>, &mut Left) -> bool,
    left: &'w mut Left,
    skip: usize,
}

impl Walk<'_> {
    fn names(&mut self, dir: &Dir) -> std::io::Result<Vec<Entry>> {
        let (names, is_cut) = entries(dir, MOST_ENTRIES.saturating_sub(self.left.looked_at))?;
        self.left.looked_at += names.len() as u64;
        self.left.is_cut |= is_cut;
        Ok(names)
    }

    /// Returns false to stop the walk.
    fn folder(&mut self, dir: &Dir, entries: Vec<Entry>, path: &str, depth: usize) -> bool {
        entries.iter().all(|entry| {
            let below = format!("{path}{}", entry.name);
            if entry.is.is_dir() {
                self.inner(dir, entry, &below, depth)
            } else if entry.is.is_file() {
                let found = Found {
                    path: &below,
                    below: &below[self.skip..],
                    dir,
                    name: &entry.name,
                };
                (self.visit)(&found, self.left)
            } else {
                true
            }
        })
    }

    fn inner(&mut self, dir: &Dir, entry: &Entry, path: &str, depth: usize) -> bool {
        if depth == DEEPEST {
            self.left.too_deep += 1;
            return true;
        }
        let opened = dir.open_dir(&entry.name).and_then(|dir| {
            let names = self.names(&dir)?;
            Ok((dir, names))
        });
        match opened {
            Ok((dir, names)) => self.folder(&dir, names, &format!("{path}/"), depth + 1),
            Err(_) => {
                self.left.unreadable();
                true
            }
        }
    }
}
