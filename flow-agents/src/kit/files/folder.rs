//! The folder that the tools share, and the threads on which they wait for the disk.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::error::FileError;
use super::root::{Limits, Root};

/// A folder that tools work in and cannot leave.
///
/// It has eight [`tools`](Folder::tools), four of which change something. Give an agent that must
/// not change anything the [`reading_tools`](Folder::reading_tools).
///
/// Paths are relative to the folder. A path is refused if it is absolute, contains `..`, or leaves
/// the folder through a symbolic link. The operating system checks each step of a path, so a link
/// that is created meanwhile is no way out either. Pipes and devices are not opened. The targets of
/// hard links and mount points count as part of the folder.
///
/// The tools wait for the disk on tokio's blocking threads. Concurrent changes are made one after
/// the other.
///
/// # Cancel safety
/// Work that has begun when a tool is dropped runs to its end, and its result is lost.
///
/// # Examples
/// ```
/// use flow_agents::kit::{Folder, FsRead, FsWrite};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let notes = tempfile::tempdir()?;
/// let folder = Folder::open(notes.path())?;
/// FsWrite::new(&folder).exec("rain.txt".into(), "It rains.\n".into()).await?;
/// assert_eq!(FsRead::new(&folder).exec("rain.txt".into(), None, None).await?, "It rains.\n");
///
/// let refused = FsRead::new(&folder).exec("../rain.txt".into(), None, None).await;
/// assert!(refused.unwrap_err().to_string().contains("it has `..` in it"));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Folder {
    root: Arc<Root>,
    limits: Limits,
}

impl Folder {
    /// Opens a folder of the file system.
    ///
    /// # Errors
    /// The folder does not exist, is not a folder, or may not be opened.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Folder> {
        let dir = Dir::open_ambient_dir(path, ambient_authority())?;
        let change = Mutex::new(());
        let limits = Limits {
            file_bytes: 10 << 20,
            result_characters: 20_000,
            search_time: Duration::from_secs(10),
        };
        Ok(Folder {
            root: Arc::new(Root { dir, change }),
            limits,
        })
    }

    /// Sets the maximum number of bytes of a file that are read, searched or written. The default
    /// is 10 MiB.
    pub fn max_file_bytes(mut self, bytes: u64) -> Folder {
        self.limits.file_bytes = bytes;
        self
    }

    /// Sets the maximum number of characters of text that a tool returns, without its notes. The
    /// default is 20,000.
    pub fn max_result_characters(mut self, characters: usize) -> Folder {
        self.limits.result_characters = characters;
        self
    }

    /// Sets the time limit of [`FsGrep`](super::FsGrep). It is checked between lines, so the search
    /// of one line may take longer. The matches so far are returned, with a note. The default is 10
    /// seconds.
    pub fn max_search_time(mut self, time: Duration) -> Folder {
        self.limits.search_time = time;
        self
    }

    /// Does work that only reads, on a blocking thread.
    pub(super) async fn look(
        &self,
        work: impl FnOnce(&Root, Limits) -> Result<String, FileError> + Send + 'static,
    ) -> Result<String, FileError> {
        let Folder { root, limits } = self.clone();
        match tokio::task::spawn_blocking(move || work(&root, limits)).await {
            Ok(result) => result,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(FileError::Ending),
            },
        }
    }

    /// Does work that changes something, after the changes of others.
    pub(super) async fn change(
        &self,
        work: impl FnOnce(&Root, Limits) -> Result<String, FileError> + Send + 'static,
    ) -> Result<String, FileError> {
        let after_others = move |root: &Root, limits| {
            let _held = root.change.lock().unwrap_or_else(PoisonError::into_inner);
            work(root, limits)
        };
        self.look(after_others).await
    }
}

impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Folder")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
