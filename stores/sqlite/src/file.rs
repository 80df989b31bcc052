//! Finds out what a path leads to, without touching it.
//!
//! SQLite accepts any file that it can open: it would add tables to another program's database, and
//! creates files next to it even for reads. The file is therefore checked first, without locks or
//! writes.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use flow_store::StoreError;
use rusqlite::{Connection, OpenFlags};

use super::errors::store_error;

/// The application id that an SQLite file has at byte 68: `flow`.
pub(super) const APPLICATION: i64 = 0x666c_6f77;

/// A file that may be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// The file is empty.
    Empty,
    /// The file is a store.
    Store,
}

/// Returns the path for SQLite, which gives some relative paths a special meaning.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, StoreError> {
    if path == Path::new(":memory:") {
        let reason = "it is SQLite's name for a database in memory; `MemoryStore` is one";
        return Err(not_a_store(path, reason));
    }
    std::path::absolute(path).map_err(|error| StoreError::Other(Box::new(error)))
}

/// Checks the file at an absolute path, and creates an empty one if there is none. Errors contain
/// the path `given`.
pub(super) fn look(path: &Path, given: &Path) -> Result<Found, StoreError> {
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(path),
        metadata => metadata,
    };
    let metadata = metadata.map_err(|error| StoreError::Other(Box::new(error)))?;
    if metadata.is_dir() {
        return Err(not_a_store(given, "it is a folder"));
    }
    if !metadata.is_file() {
        return Err(not_a_store(given, "it is not a file"));
    }
    if metadata.len() == 0 {
        return Ok(Found::Empty);
    }
    match application(path) {
        Ok(APPLICATION) => Ok(Found::Store),
        Ok(other) => Err(of_another_program(given, other)),
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) => {
            Err(not_a_store(given, "it is not an SQLite file"))
        }
        Err(error) => Err(store_error(error)),
    }
}

pub(super) fn of_another_program(path: &Path, application: i64) -> StoreError {
    let reason = format!(
        "it is an SQLite file whose application id is 0x{application:08x}, not 0x{APPLICATION:08x}"
    );
    not_a_store(path, reason)
}

fn not_a_store(path: &Path, reason: impl Into<String>) -> StoreError {
    StoreError::NotAStore {
        path: path.to_owned(),
        reason: reason.into(),
    }
}

/// Creates an empty file that only its owner can read and write. The files that SQLite puts next to
/// it get the same permissions.
#[cfg(unix)]
fn make(path: &Path) -> io::Result<Metadata> {
    use std::fs::{OpenOptions, Permissions};
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    use std::sync::{Mutex, PoisonError};

    // Closing a file drops all locks of the process on it, including those of SQLite. So nobody
    // else in this process may open the file before it is closed.
    static MAKING: Mutex<()> = Mutex::new(());
    let _alone = MAKING.lock().unwrap_or_else(PoisonError::into_inner);

    const OWNER_ONLY: u32 = 0o600;
    let mut options = OpenOptions::new();
    options.write(true).mode(OWNER_ONLY);
    match options.clone().create_new(true).open(path) {
        // The umask may have removed a permission.
        Ok(file) => file.set_permissions(Permissions::from_mode(OWNER_ONLY))?,
        // Somebody else was faster, or the path is a link to a file that does not exist yet.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if let Err(error) = fs::metadata(path) {
                if error.kind() != io::ErrorKind::NotFound {
                    return Err(error);
                }
                options.create(true).open(path)?;
            }
        }
        Err(error) => return Err(error),
    }
    fs::metadata(path)
}

/// Creates an empty file.
#[cfg(not(unix))]
fn make(path: &Path) -> io::Result<Metadata> {
    fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)?;
    fs::metadata(path)
}

/// Returns the application id in the file itself, whatever the files next to it contain: a store
/// has it there before it has a log.
fn application(path: &Path) -> rusqlite::Result<i64> {
    // `immutable` takes no lock, and neither reads nor creates a file next to it.
    let uri = format!("{}?immutable=1", uri(path)?);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri, flags)?;
    // A file that is shorter than its first page says is not damaged: its end may still be in the
    // log.
    connection.pragma_update(None, "writable_schema", true)?;
    connection.pragma_query_value(None, "application_id", |row| row.get(0))
}

/// Returns an absolute path as a URI.
fn uri(path: &Path) -> rusqlite::Result<String> {
    #[cfg(unix)]
    let bytes = std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str());
    #[cfg(not(unix))]
    let bytes = path
        .to_str()
        .ok_or_else(|| rusqlite::Error::InvalidPath(path.to_owned()))?
        .as_bytes();
    let mut uri = "file://".to_owned();
    if !matches!(bytes.first(), Some(b'/' | b'\\')) {
        uri.push('/'); // `C:\…`, unlike `\\server\…` and `\\?\C:\…`
    }
    for byte in bytes {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'/' | b':' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            byte => uri += &format!("%{byte:02X}"),
        }
    }
    Ok(uri)
}
