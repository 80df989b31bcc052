//! Writes files completely, or leaves them as they were.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write};
use std::path::Path;

use crate::Error;

/// Writes a file: first under another name next to it, which then replaces the file. A file that is
/// there already keeps its permissions, and a link to a file stays one.
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
        // The draft may not even exist.
        let _ = fs::remove_file(&draft);
        failed(source)
    })
}

/// Creates a folder and its parents.
///
/// # Errors
///
/// The folder cannot be created, or there is a file with its name.
pub(crate) fn folder(path: &Path) -> Result<(), Error> {
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
