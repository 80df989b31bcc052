//! Paths as a model writes them: relative to the folder, with `/` between the names.

use std::path::{Path, PathBuf};

use super::error::{FileError, beginning};

/// The maximum number of bytes of a path.
const LONGEST: usize = 4_096;

/// A path below the folder, as it was written. Its links are checked when it is opened.
#[derive(Debug, Clone)]
pub(super) struct FolderPath {
    names: Vec<String>,
}

impl FolderPath {
    /// Reads a path. `None`, the empty path and `.` are the folder itself.
    pub(super) fn read(path: Option<&str>) -> Result<FolderPath, FileError> {
        let path = path.unwrap_or_default();
        if let Some(reason) = refused(path) {
            let path = beginning(path);
            return Err(FileError::Path { path, reason });
        }
        let names = path.split('/').filter(|name| !matches!(*name, "" | "."));
        let names = names.map(str::to_owned).collect();
        Ok(FolderPath { names })
    }

    /// Reads the path of something in the folder, not the folder itself.
    pub(super) fn read_below(path: &str) -> Result<FolderPath, FileError> {
        let below = FolderPath::read(Some(path))?;
        if below.is_root() {
            let path = beginning(path);
            let reason = "it is the folder itself";
            return Err(FileError::Path { path, reason });
        }
        Ok(below)
    }

    pub(super) fn is_root(&self) -> bool {
        self.names.is_empty()
    }

    /// The path for results and errors.
    pub(super) fn as_text(&self) -> String {
        if self.is_root() {
            return ".".to_owned();
        }
        self.names.join("/")
    }

    /// The path for the operating system.
    pub(super) fn to_path(&self) -> PathBuf {
        if self.is_root() {
            return PathBuf::from(".");
        }
        self.names.iter().collect()
    }
}

fn refused(path: &str) -> Option<&'static str> {
    let drive = path.as_bytes();
    if path.len() > LONGEST {
        Some("it is longer than 4,096 bytes")
    } else if path.chars().any(char::is_control) {
        Some("it has a control character in it")
    } else if path.starts_with('/') || Path::new(path).is_absolute() {
        Some("it is absolute; give a path relative to the folder, which is `.`")
    } else if drive.len() > 1 && drive[0].is_ascii_alphabetic() && drive[1] == b':' {
        Some("it names a drive; give a path relative to the folder, which is `.`")
    } else if path.contains('\\') {
        Some("it has a backslash in it; write `/` between names")
    } else if cfg!(windows) && path.contains(':') {
        Some("it has a colon in it")
    } else if path.split('/').any(|name| name == "..") {
        Some("it has `..` in it; give a path relative to the folder, which is `.`")
    } else {
        None
    }
}
