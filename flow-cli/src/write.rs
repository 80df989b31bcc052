//! Writes files atomically, and interprets `--out`.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::{Error, Flows, Screen};

/// The meaning of `--out`, for any number of flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Destination<'a> {
    /// One file for one flow.
    File(&'a Path),
    /// A folder with a file for each flow.
    Folder(&'a Path),
}

impl<'a> Destination<'a> {
    /// A file, if the name has an extension. A path that ends in a slash or is an existing folder
    /// is always a folder.
    pub(crate) fn of(path: &'a Path) -> Self {
        let text = path.as_os_str().as_encoded_bytes();
        let ends_in_slash = text
            .last()
            .is_some_and(|last| std::path::is_separator(char::from(*last)));
        if path.extension().is_none() || ends_in_slash || path.is_dir() {
            Destination::Folder(path)
        } else {
            Destination::File(path)
        }
    }

    /// Returns the file of each flow. Creates the folder.
    ///
    /// # Errors
    ///
    /// There are several flows for one file, or the folder cannot be created.
    pub(crate) fn paths(
        self,
        flows: &Flows,
        ending: &str,
        screen: &mut Screen<'_>,
    ) -> Result<Vec<PathBuf>, Error> {
        let folder = match self {
            Destination::Folder(folder) => folder,
            Destination::File(path) if flows.as_slice().len() == 1 => {
                return Ok(vec![path.to_owned()]);
            }
            Destination::File(path) => {
                return Err(Error::OneFile {
                    path: path.to_owned(),
                    flows: flows.titles(),
                });
            }
        };
        for namespace in flows.shared_namespaces() {
            screen.warning(&format!(
                "several flows have the namespace `{namespace}`; the files of all but the first get a number"
            ));
        }
        self::folder(folder)?;
        let stems = flows.stems().into_iter();
        Ok(stems
            .map(|stem| folder.join(format!("{stem}.{ending}")))
            .collect())
    }
}

/// Writes a file under another name next to it, then replaces it. An existing file keeps its
/// permissions, and a link to a file stays one.
///
/// # Errors
///
/// The file cannot be written. It is then as it was.
pub(crate) fn file(path: &Path, text: &str) -> Result<(), Error> {
    let failed = |source| Error::Write {
        path: path.to_owned(),
        source,
    };
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = path
        .file_name()
        .ok_or_else(|| failed(io::ErrorKind::IsADirectory.into()))?;
    let mut draft = std::ffi::OsString::from(".");
    draft.push(name);
    draft.push(format!(".{}.tmp", std::process::id()));
    let draft = path.with_file_name(draft);
    let permissions = fs::metadata(path).ok().map(|about| about.permissions());
    let written = write(&draft, text, permissions).and_then(|()| fs::rename(&draft, path));
    written.map_err(|source| {
        // The draft may not exist.
        let _ = fs::remove_file(&draft);
        failed(source)
    })
}

/// Creates a folder and its parents.
///
/// # Errors
///
/// The folder cannot be created, or there is a file with its name.
fn folder(path: &Path) -> Result<(), Error> {
    if path.exists() && !path.is_dir() {
        return Err(Error::NoFolder {
            path: path.to_owned(),
        });
    }
    fs::create_dir_all(path).map_err(|source| Error::Write {
        path: path.to_owned(),
        source,
    })
}

fn write(path: &Path, text: &str, permissions: Option<Permissions>) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
