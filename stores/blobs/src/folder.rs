//! Blobs in a folder.
//!
//! A value is written to a file with another name, which is renamed once its content is on the
//! disk. `LocalFileSystem` of `object_store` does so too, but leaves half a file after a crash,
//! lets everybody on the machine read it, and does not wait until a folder that another task has
//! just created is on the disk.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use flow_store::{Blobs, StoreError, check_blob_name};
use tempfile::NamedTempFile;

use crate::error::Failure;

/// The folder of files in progress. No blob's folder has such a name.
const NEW: &str = ".new";

/// The age at which a file in progress is left over from a crash.
const LEFT_BEHIND: Duration = Duration::from_secs(24 * 60 * 60);

/// The number of times that a folder is created again if somebody else removes it while empty.
const TRIES: usize = 100;

/// Keeps blobs in a folder: each execution has a folder in it, and each blob is a file.
///
/// All processes on the store have to see the same folder. A network drive works if all see a
/// renamed file at once, as with NFS. Back the folder up after the store, never before: a blob is
/// written before the row that names it.
///
/// # Examples
///
/// ```
/// use flow_blobs::{BlobStore, FolderBlobs};
/// use flow_durable::Runtime;
/// use flow_sqlite::SqliteStore;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let place = tempfile::tempdir()?;
/// # let folder = place.path();
/// let store = SqliteStore::open(folder.join("runs.db")).await?;
/// let blobs = FolderBlobs::open(folder.join("blobs")).await?;
/// let runtime = Runtime::new(BlobStore::new(store, blobs));
/// # runtime.shut_down().await;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct FolderBlobs {
    root: Arc<Path>,
}

impl FolderBlobs {
    /// Opens a folder, or creates it. Only the owner can read and write a new folder, if the system
    /// has such permissions; an existing folder keeps its permissions.
    ///
    /// # Errors
    ///
    /// The path is not a folder, or it cannot be written to.
    pub async fn open(folder: impl AsRef<Path>) -> Result<FolderBlobs, StoreError> {
        let folder = folder.as_ref();
        let given = folder.to_owned();
        match blocking(move || prepare(&given)).await {
            Ok(root) => Ok(FolderBlobs { root: root.into() }),
            Err(error) => Err(Failure::of_folder(folder, error).into()),
        }
    }

    fn file(&self, name: &str) -> Result<PathBuf, StoreError> {
        check_blob_name(name)?;
        Ok(self.root.join(name))
    }
}

#[async_trait]
impl Blobs for FolderBlobs {
    async fn put(&self, name: &str, value: Vec<u8>) -> Result<(), StoreError> {
        let file = self.file(name)?;
        let root = self.root.clone();
        let written = blocking(move || write(&root, &file, &value)).await;
        Ok(written.map_err(|error| Failure::put(name)(error.into()))?)
    }

    async fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let file = self.file(name)?;
        let read = blocking(move || if_there(fs::read(file))).await;
        Ok(read.map_err(|error| Failure::get(name)(error.into()))?)
    }

    async fn delete(&self, name: &str) -> Result<(), StoreError> {
        let file = self.file(name)?;
        let removed = blocking(move || remove(&file)).await;
        Ok(removed.map_err(|error| Failure::delete(name)(error.into()))?)
    }

    async fn names(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        check_blob_name(&format!("{folder}/a"))?;
        let path = self.root.join(folder);
        let listed = blocking(move || list(&path)).await;
        let files = listed.map_err(|error| Failure::list(error.into()))?;
        let names = files.iter().map(|file| format!("{folder}/{file}"));
        Ok(names.filter(|name| check_blob_name(name).is_ok()).collect())
    }

    async fn folders(&self) -> Result<Vec<String>, StoreError> {
        let root = self.root.clone();
        let listed = blocking(move || list(&root)).await;
        let mut folders = listed.map_err(|error| Failure::list(error.into()))?;
        folders.retain(|folder| check_blob_name(&format!("{folder}/a")).is_ok());
        Ok(folders)
    }
}

/// Runs a blocking operation in a thread for such operations.
async fn blocking<T: Send + 'static>(
    run: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    match tokio::task::spawn_blocking(run).await {
        Ok(outcome) => outcome,
        Err(error) => Err(io::Error::other(error)),
    }
}

/// Opens or creates the folder, and returns its absolute path.
fn prepare(given: &Path) -> io::Result<PathBuf> {
    let root = std::path::absolute(given)?;
    match if_there(fs::metadata(&root))? {
        Some(found) if !found.is_dir() => {
            let reason = "it is not a folder";
            return Err(io::Error::new(ErrorKind::NotADirectory, reason));
        }
        Some(_) => {}
        None => make(&root)?,
    }
    // If somebody else has just created the folder, it may not be on the disk yet. A process that
    // may not read its parent did not create it.
    match root.parent().map_or(Ok(()), sync) {
        Err(error) if error.kind() != ErrorKind::PermissionDenied => return Err(error),
        _ => {}
    }
    let new = root.join(NEW);
    make(&new)?;
    sweep(&new);
    Ok(root)
}

/// Creates a folder for its owner alone, with missing parents. They are on the disk on return.
fn make(folder: &Path) -> io::Result<()> {
    let is_there = |folder: &&Path| !folder.exists();
    let missing: Vec<&Path> = folder.ancestors().take_while(is_there).collect();
    for folder in missing.iter().rev() {
        #[cfg_attr(not(unix), expect(unused_mut, reason = "the mode is one of Unix"))]
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => folder.parent().map_or(Ok(()), sync)?,
        }
    }
    Ok(())
}

/// Removes the files in progress of crashed processes. Files that cannot be removed stay and do no
/// harm.
fn sweep(new: &Path) {
    let now = SystemTime::now();
    for file in fs::read_dir(new).into_iter().flatten().flatten() {
        let modified = file.metadata().and_then(|found| found.modified());
        let age = modified.map(|modified| now.duration_since(modified).unwrap_or_default());
        if age.is_ok_and(|age| age > LEFT_BEHIND) {
            let _ = fs::remove_file(file.path());
        }
    }
}

/// Writes a file whole or not at all, and returns when it is on the disk.
fn write(root: &Path, file: &Path, value: &[u8]) -> io::Result<()> {
    let folder = file.parent().ok_or(ErrorKind::InvalidInput)?;
    let mut new = NamedTempFile::new_in(root.join(NEW))?;
    new.write_all(value)?;
    new.as_file().sync_all()?;
    // On Windows, `persist` would not replace a file that somebody is reading.
    let (_, new) = new.keep().map_err(|failed| failed.error)?;
    for tries in 1.. {
        match make(folder).and_then(|()| fs::rename(&new, file)) {
            Ok(()) => break,
            // The deletion of the last file in a folder removes the folder.
            Err(error) if is_removed(&error) && tries < TRIES => {}
            Err(error) => {
                let _ = fs::remove_file(&new);
                return Err(error);
            }
        }
    }
    sync(folder)?;
    // If somebody else has just created the folder, it may not be on the disk yet.
    sync(root)
}

/// Returns `true` if this may be the error of a folder that somebody else removes. Windows denies
/// access to such a folder.
fn is_removed(error: &io::Error) -> bool {
    let kind = error.kind();
    kind == ErrorKind::NotFound || cfg!(windows) && kind == ErrorKind::PermissionDenied
}

/// Removes a file, and its folder if that is then empty.
fn remove(file: &Path) -> io::Result<()> {
    if_there(fs::remove_file(file))?;
    if let Some(folder) = file.parent() {
        // It is not empty, or somebody else was faster.
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}

/// Returns the names in a folder, in order.
fn list(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for file in if_there(fs::read_dir(folder))?.into_iter().flatten() {
        names.extend(file?.file_name().into_string().ok());
    }
    names.sort();
    Ok(names)
}

/// Returns `None` if the file to read or remove does not exist.
fn if_there<T>(outcome: io::Result<T>) -> io::Result<Option<T>> {
    match outcome {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        outcome => outcome.map(Some),
    }
}

/// Waits until the names in a folder are on the disk.
fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    // Elsewhere, a folder cannot be opened, and names are written with their files.
    Ok(())
}
