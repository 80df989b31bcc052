//! Where executions are stored.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use flow_durable::{Runtime, RuntimeOptions, StoreError};
use flow_sqlite::SqliteStore;

/// Where executions are stored, as on a command line: `sqlite:runs.db`.
///
/// # Examples
///
/// ```
/// use flow_terminal::StoreAddress;
///
/// let store: StoreAddress = "sqlite:runs.db".parse().unwrap();
/// assert_eq!(store.to_string(), "sqlite:runs.db");
/// assert!("runs.db".parse::<StoreAddress>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreAddress {
    file: PathBuf,
}

/// A text that is not the address of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidStore {
    text: String,
}

impl fmt::Display for InvalidStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InvalidStore { text } = self;
        write!(
            f,
            "`{text}` is not a store: write `sqlite:` and the path of a file, such as `sqlite:runs.db`"
        )
    }
}

impl std::error::Error for InvalidStore {}

impl FromStr for StoreAddress {
    type Err = InvalidStore;

    fn from_str(text: &str) -> Result<Self, InvalidStore> {
        match text.strip_prefix("sqlite:") {
            Some(file) if !file.is_empty() => Ok(StoreAddress { file: file.into() }),
            _ => Err(InvalidStore {
                text: text.to_owned(),
            }),
        }
    }
}

impl fmt::Display for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sqlite:{}", self.file.display())
    }
}

impl StoreAddress {
    /// The file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// A runtime on the store, without flows. If there is no such file, it is made.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, or is not one of this library.
    pub async fn open(&self) -> Result<Runtime, StoreError> {
        self.open_with(RuntimeOptions::new()).await
    }

    /// A runtime on the store with these options.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub async fn open_with(&self, options: RuntimeOptions) -> Result<Runtime, StoreError> {
        let store = SqliteStore::open(&self.file).await?;
        Ok(Runtime::with_options(store, options))
    }
}
