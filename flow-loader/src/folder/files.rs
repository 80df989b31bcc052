//! Finds and reads the documents of a folder: regular files inside it, within the limits.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use flow_text::{Format, LARGEST};

use super::{FileProblem, Folder};

/// The maximum depth of nested folders.
const DEEPEST: usize = 16;

/// The text of a document, and its format. `None` if it cannot be read.
pub(super) type Text = Option<(Vec<u8>, Format)>;

/// The contents of a folder.
pub(super) struct Contents {
    /// The documents, by path within the folder.
    pub(super) texts: BTreeMap<PathBuf, Text>,
    /// The paths of the folders in it that cannot be read and whose contents are therefore unknown.
    pub(super) unreadable: Vec<PathBuf>,
}

/// Reads the documents of a folder. Mistakes in one of them are added to `problems`.
///
/// # Errors
///
/// The folder cannot be read, or contains too much.
pub(super) fn read(root: &Path, problems: &mut Vec<FileProblem>) -> Result<Contents, FileProblem> {
    let unreadable = |error| FileProblem::unreadable(root, error);
    let mut reader = Reader {
        root,
        real_root: root.canonicalize().map_err(unreadable)?,
        contents: Contents {
            texts: BTreeMap::new(),
            unreadable: Vec::new(),
        },
        bytes: 0,
        problems,
    };
    reader.folder(Path::new(""), DEEPEST)?;
    Ok(reader.contents)
}

struct Reader<'a> {
    root: &'a Path,
    real_root: PathBuf,
    contents: Contents,
    bytes: usize,
    problems: &'a mut Vec<FileProblem>,
}

impl Reader<'_> {
    fn folder(&mut self, within: &Path, deeper: usize) -> Result<(), FileProblem> {
        let path = self.root.join(within);
        let unreadable = |error| FileProblem::unreadable(&path, error);
        for entry in fs::read_dir(&path).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let within = within.join(name);
            match self.entry(&entry, &within, deeper) {
                Ok(()) => {}
                // It was removed after it was listed.
                Err(FileProblem::Unreadable { path, source })
                    if source.kind() == io::ErrorKind::NotFound
                        && path == entry.path()
                        && fs::symlink_metadata(&path).is_err() => {}
                Err(problem) if problem.path() == self.root => return Err(problem),
                Err(problem) => {
                    self.problems.push(problem);
                    if Format::of_name(&within).is_some() {
                        self.contents.texts.insert(within.clone(), None);
                    }
                    self.contents.unreadable.push(within);
                }
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: &DirEntry, within: &Path, deeper: usize) -> Result<(), FileProblem> {
        let path = entry.path();
        let unreadable = |error| FileProblem::unreadable(&path, error);
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_dir() {
            if deeper == 0 {
                let reason = format!("folders are read up to {DEEPEST} levels deep");
                return Err(FileProblem::refused(&path, reason));
            }
            return self.folder(within, deeper - 1);
        }
        let Some(format) = Format::of_name(within) else {
            return Ok(());
        };
        let real = match path.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound && kind.is_symlink() => {
                let reason = "this link leads to nothing";
                return Err(FileProblem::refused(&path, reason));
            }
            real => real.map_err(unreadable)?,
        };
        if !real.starts_with(&self.real_root) {
            let reason = "this link leads out of the folder";
            return Err(FileProblem::refused(&path, reason));
        }
        if self.contents.texts.len() == Folder::MOST_FILES {
            let reason = format!("this folder has more than {} documents", Folder::MOST_FILES);
            return Err(FileProblem::refused(self.root, reason));
        }
        let bytes = contents(&real, &path)?;
        self.bytes += bytes.len();
        if self.bytes > LARGEST {
            let most = LARGEST >> 20;
            let reason = format!("the documents of this folder have more than {most} MiB");
            return Err(FileProblem::refused(self.root, reason));
        }
        let text = Some((bytes, format));
        self.contents.texts.insert(within.to_owned(), text);
        Ok(())
    }
}

/// Reads a file, which is called `path` in errors.
pub(super) fn contents(real: &Path, path: &Path) -> Result<Vec<u8>, FileProblem> {
    let unreadable = |error| FileProblem::unreadable(path, error);
    // Checked before opening: opening a pipe waits for a writer.
    if !fs::metadata(real).map_err(unreadable)?.is_file() {
        return Err(FileProblem::refused(path, "this is not a regular file"));
    }
    let mut bytes = Vec::new();
    let file = File::open(real).map_err(unreadable)?;
    // One byte more than a document may have, so that it is refused as too large.
    let most = u64::try_from(LARGEST).unwrap_or(u64::MAX).saturating_add(1);
    file.take(most)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    Ok(bytes)
}
