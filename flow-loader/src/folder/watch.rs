//! Watches a folder, and reloads it when something in it has changed.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};
use std::{fmt, io};

use notify::event::ModifyKind;
use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::{FileProblem, Folder, Reload};

/// The time without changes before a folder is loaded: editors write in several steps.
const QUIET: Duration = Duration::from_millis(100);

/// The maximum time before a folder is loaded, if something changes all the time.
const LATEST: Duration = Duration::from_secs(2);

/// The interval at which a missing folder is looked for, and an existing one is compared with the
/// one that is watched.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// A watched folder: see [`Folder::watch`]. Dropping this ends the watch.
#[must_use = "a folder is watched until this is dropped"]
pub struct Watch {
    messages: Sender<Message>,
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // If the thread has ended, there is nothing to stop.
        let _ = self.messages.send(Message::Stop);
    }
}

enum Message {
    Changed(notify::Result<Event>),
    Stop,
}

impl Folder {
    /// Watches the folder, and [reloads](Self::reload) it when something in it has changed and then
    /// stayed the same for a tenth of a second. Calls `report`, on a separate thread, after each
    /// reload that changes the flows or the problems. If something has changed since the folder was
    /// last loaded, the first report follows immediately.
    ///
    /// A folder that is removed keeps its flows, and is watched again when it is back. If a link to
    /// the folder, or to one around it, is redirected, the new target is watched within a second.
    /// If `report` panics, the watch ends.
    ///
    /// # Errors
    ///
    /// The folder cannot be watched: it does not exist, or the operating system watches too much
    /// already.
    ///
    /// # Examples
    ///
    /// A runtime whose flows follow the folder:
    ///
    /// ```no_run
    /// use std::sync::Arc;
    /// use flow_durable::{MemoryStore, Runtime};
    /// use flow_loader::{Folder, registry};
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let runtime = Runtime::new(MemoryStore::new());
    /// let watch = Folder::new("flows", registry![]).watch(move |reload| {
    ///     for problem in reload.problems {
    ///         eprintln!("{problem}");
    ///     }
    ///     for flow in reload.changed {
    ///         if let Err(refused) = runtime.replace(flow) {
    ///             eprintln!("{refused}");
    ///         }
    ///     }
    ///     for name in reload.removed {
    ///         if let Err(error) = runtime.retire(&name) {
    ///             eprintln!("{error}");
    ///         }
    ///     }
    /// })?;
    /// # drop(watch);
    /// # Ok(()) }
    /// ```
    pub fn watch(self, report: impl FnMut(Reload) + Send + 'static) -> io::Result<Watch> {
        let root = std::path::absolute(&self.root)?;
        let (messages, received) = mpsc::channel();
        let changed = messages.clone();
        let tell = move |event: notify::Result<Event>| {
            // If sending fails, the watch has been dropped.
            let _ = changed.send(Message::Changed(event));
        };
        let config = Config::default().with_follow_symlinks(false);
        let watcher = RecommendedWatcher::new(tell, config).map_err(io_error)?;
        let mut thread = Thread {
            folder: self,
            root,
            watcher,
            received,
            watched: None,
            is_lost: false,
            problems: Vec::new(),
        };
        thread.find().map_err(io_error)?;
        thread::Builder::new()
            .name("flow-loader folder".to_owned())
            .spawn(move || thread.run(report))?;
        Ok(Watch { messages })
    }
}

fn io_error(error: notify::Error) -> io::Error {
    match error.kind {
        notify::ErrorKind::Io(error) => error,
        notify::ErrorKind::PathNotFound => io::ErrorKind::NotFound.into(),
        _ => io::Error::other(error),
    }
}

struct Thread {
    folder: Folder,
    /// The path of the folder, which may be a link.
    root: PathBuf,
    watcher: RecommendedWatcher,
    received: Receiver<Message>,
    /// The folder that is watched, whatever leads to it now.
    watched: Option<Identity>,
    /// True if the folder was removed or renamed.
    is_lost: bool,
    /// The problems that were reported last.
    problems: Vec<String>,
}

impl Thread {
    /// Starts watching the folder.
    fn find(&mut self) -> notify::Result<()> {
        let found = Identity::of(&self.root).ok_or_else(notify::Error::path_not_found)?;
        // Otherwise the link itself would be watched rather than its target.
        self.watcher.watch(&found.path, RecursiveMode::Recursive)?;
        self.watched = Some(found);
        self.is_lost = false;
        Ok(())
    }

    /// Returns `true` if the path now leads to another folder than the watched one. There is no
    /// event for that if it is a link, or is inside a folder that is renamed.
    fn is_another(&self) -> bool {
        Identity::of(&self.root) != self.watched
    }

    /// Returns `true` if the folder may no longer be watched after this event.
    fn loses(&self, event: &Event) -> bool {
        let is_gone = matches!(
            event.kind,
            EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
        );
        let watched = self.watched.as_ref().map(|watched| &watched.path);
        is_gone && event.paths.iter().any(|path| Some(path) == watched)
    }

    fn run(mut self, mut report: impl FnMut(Reload)) {
        let mut failures = Vec::new();
        loop {
            let mut reload = self.folder.reload();
            reload.problems.append(&mut failures);
            let problems: Vec<String> = reload.problems.iter().map(ToString::to_string).collect();
            let is_news = !reload.changed.is_empty() || !reload.removed.is_empty();
            if is_news || problems != self.problems {
                self.problems = problems;
                report(reload);
            }
            if !self.wait(&mut failures) {
                return;
            }
        }
    }

    /// Waits until something has changed, and then nothing for a while. Returns `false` if the
    /// watch has to stop.
    fn wait(&mut self, failures: &mut Vec<FileProblem>) -> bool {
        let mut began: Option<Instant> = None;
        loop {
            let message = match began {
                Some(began) => {
                    let left = LATEST.saturating_sub(began.elapsed());
                    self.received.recv_timeout(left.min(QUIET))
                }
                None => self.received.recv_timeout(LOOK_AGAIN),
            };
            match message {
                Ok(Message::Changed(Ok(event))) if !is_change(&event) => {}
                Ok(Message::Changed(event)) => {
                    match event {
                        Ok(event) => self.is_lost |= self.loses(&event),
                        Err(error) => {
                            let error = io_error(error);
                            failures.push(FileProblem::unreadable(&self.folder.root, error));
                        }
                    }
                    began.get_or_insert_with(Instant::now);
                }
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
                Err(RecvTimeoutError::Timeout) => {
                    self.is_lost |= self.is_another();
                    if !self.is_lost && began.is_none() {
                        continue;
                    }
                    if self.is_lost {
                        // The folder of this name may be another one now.
                        let before = self.watched.take();
                        if let Some(before) = &before {
                            let _ = self.watcher.unwatch(&before.path);
                        }
                        let is_found = self.find().is_ok();
                        // That it is gone is reported once, also if no event says so.
                        if !is_found && began.is_none() && before.is_none() {
                            continue;
                        }
                    }
                    return true;
                }
            }
            // Something changes all the time.
            if began.is_some_and(|began| began.elapsed() >= LATEST) && !self.is_lost {
                return true;
            }
        }
    }
}

/// A folder, identified by its path without links and, if the system has one, its number. On
/// Windows, the time of its creation takes the place of the number.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    path: PathBuf,
    number: Option<(u64, u64)>,
}

impl Identity {
    /// The identity of the folder to which a path leads. `None` if there is none.
    fn of(path: &Path) -> Option<Self> {
        let path = path.canonicalize().ok()?;
        let metadata = path.metadata().ok()?;
        #[cfg(unix)]
        let number = {
            use std::os::unix::fs::MetadataExt as _;
            Some((metadata.dev(), metadata.ino()))
        };
        #[cfg(windows)]
        let number = {
            use std::os::windows::fs::MetadataExt as _;
            Some((metadata.creation_time(), 0))
        };
        #[cfg(not(any(unix, windows)))]
        let number = {
            drop(metadata);
            None
        };
        Some(Identity { path, number })
    }
}

/// Returns `false` if files were only read, for example by this program.
fn is_change(event: &Event) -> bool {
    !matches!(event.kind, EventKind::Access(_))
}
