//! Addresses of stores.

use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use flow_durable::{Runtime, RuntimeOptions, Store, StoreError};
#[cfg(feature = "postgres")]
use flow_postgres::PostgresStore;
#[cfg(feature = "redis")]
use flow_redis::RedisStore;
use flow_sqlite::SqliteStore;

use super::shown::shown;

/// The address of a store of executions, as on a command line: `sqlite:runs.db`, with the feature
/// `postgres` also `postgres://user@host/database`, and with the feature `redis` also
/// `redis://user@host:port`.
///
/// `Display` hides a password. Every text is therefore accepted here, and refused only on opening
/// if it is not the address of a store: a command line that refuses a text prints it unchanged.
///
/// # Examples
///
/// ```
/// use flow_terminal::StoreAddress;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let store = StoreAddress::from("sqlite:runs.db");
/// assert_eq!(store.to_string(), "sqlite:runs.db");
///
/// let wrong = StoreAddress::from("mysql://me:secret@host/flows");
/// let error = wrong.open().await.map(drop).unwrap_err();
/// let told = wrong.explain(&error);
/// assert!(told.starts_with("`mysql://me@host/flows` is not a store: write `sqlite:`"));
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct StoreAddress {
    place: Place,
}

#[derive(Clone, PartialEq, Eq)]
enum Place {
    File(PathBuf),
    #[cfg(feature = "postgres")]
    Postgres(String),
    #[cfg(feature = "redis")]
    Redis(String),
    None(InvalidStore),
}

/// A text that is not the address of a store, or not of one that this program can open. It is the
/// source of the error with which opening such an address fails.
#[derive(Clone, PartialEq, Eq)]
pub struct InvalidStore {
    text: String,
}

/// The servers with stores, each behind the feature of its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Server {
    Postgres,
    Redis,
}

/// The schemes of Redis. Those with `unix` have the path of a socket.
const REDIS: [&str; 6] = [
    "redis",
    "rediss",
    "valkey",
    "valkeys",
    "redis+unix",
    "valkey+unix",
];

impl Server {
    /// Returns the server of this address, and the rest after the scheme, which may be in capitals.
    fn of(text: &str) -> Option<(Server, &str)> {
        let (scheme, rest) = text.split_once("://")?;
        let is_one_of = |known: &[&str]| known.iter().any(|it| scheme.eq_ignore_ascii_case(it));
        if is_one_of(&["postgres", "postgresql"]) {
            Some((Server::Postgres, rest))
        } else if is_one_of(&REDIS) {
            Some((Server::Redis, rest))
        } else {
            None
        }
    }

    /// Returns the name of the server, and the feature that a program needs for it.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Server::Postgres => ("a Postgres database", "postgres"),
            Server::Redis => ("a Redis server", "redis"),
        }
    }
}

impl fmt::Display for InvalidStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = shown(&self.text);
        if let Some((server, _)) = Server::of(&self.text) {
            let (what, feature) = server.names();
            return write!(
                f,
                "`{text}` is {what}, and this program was built without the feature `{feature}`"
            );
        }
        let or_postgres = if cfg!(feature = "postgres") {
            ", or `postgres://user@host/database`"
        } else {
            ""
        };
        let or_redis = if cfg!(feature = "redis") {
            ", or `redis://user@host:port`"
        } else {
            ""
        };
        write!(
            f,
            "`{text}` is not a store: write `sqlite:` and the path of a file, such as `sqlite:runs.db`{or_postgres}{or_redis}"
        )
    }
}

impl fmt::Debug for InvalidStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InvalidStore")
            .field(&shown(&self.text))
            .finish()
    }
}

impl std::error::Error for InvalidStore {}

impl From<&str> for StoreAddress {
    fn from(text: &str) -> Self {
        match Server::of(text) {
            #[cfg(feature = "postgres")]
            Some((Server::Postgres, rest)) => {
                let place = Place::Postgres(format!("postgres://{rest}"));
                return StoreAddress { place };
            }
            #[cfg(feature = "redis")]
            Some((Server::Redis, rest)) => {
                let scheme = text[..text.len() - rest.len()].to_ascii_lowercase();
                let place = Place::Redis(format!("{scheme}{rest}"));
                return StoreAddress { place };
            }
            _ => {}
        }
        let place = match text.split_once(':') {
            Some((scheme, file)) if scheme.eq_ignore_ascii_case("sqlite") && !file.is_empty() => {
                Place::File(file.into())
            }
            _ => Place::None(InvalidStore {
                text: text.to_owned(),
            }),
        };
        StoreAddress { place }
    }
}

impl FromStr for StoreAddress {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(StoreAddress::from(text))
    }
}

impl fmt::Display for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::File(file) => write!(f, "sqlite:{}", file.display()),
            #[cfg(feature = "postgres")]
            Place::Postgres(url) => f.write_str(&shown(url)),
            #[cfg(feature = "redis")]
            Place::Redis(url) => f.write_str(&shown(url)),
            Place::None(invalid) => f.write_str(&shown(&invalid.text)),
        }
    }
}

impl fmt::Debug for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoreAddress")
            .field(&self.to_string())
            .finish()
    }
}

impl StoreAddress {
    /// Returns the path, if the store is a file.
    pub fn file(&self) -> Option<&Path> {
        match &self.place {
            Place::File(file) => Some(file),
            #[cfg(feature = "postgres")]
            Place::Postgres(_) => None,
            #[cfg(feature = "redis")]
            Place::Redis(_) => None,
            Place::None(_) => None,
        }
    }

    /// Opens a runtime on the store, without flows. Creates a missing file, and the tables of an
    /// empty database.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, or is not one of this library; the database cannot be reached; or
    /// the address is not that of a store ([`InvalidStore`]). [`explain`](Self::explain) formats
    /// the error.
    pub async fn open(&self) -> Result<Runtime, StoreError> {
        self.open_with(RuntimeOptions::new()).await
    }

    /// Opens a runtime on the store with these options.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`open`](Self::open).
    pub async fn open_with(&self, options: RuntimeOptions) -> Result<Runtime, StoreError> {
        Ok(Runtime::with_options(self.store().await?, options))
    }

    /// Opens the store alone, for a program that wraps it.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`open`](Self::open).
    pub async fn store(&self) -> Result<Arc<dyn Store>, StoreError> {
        match &self.place {
            Place::File(file) => Ok(Arc::new(SqliteStore::open(file).await?)),
            #[cfg(feature = "postgres")]
            Place::Postgres(url) => Ok(Arc::new(PostgresStore::connect(url).await?)),
            #[cfg(feature = "redis")]
            Place::Redis(url) => Ok(Arc::new(RedisStore::connect(url).await?)),
            Place::None(invalid) => Err(StoreError::Other(Box::new(invalid.clone()))),
        }
    }

    /// Explains to people why the store cannot be opened: the address, and the error with its
    /// causes.
    pub fn explain(&self, error: &StoreError) -> String {
        if let Place::None(invalid) = &self.place {
            return invalid.to_string();
        }
        let mut told = format!("{self}: {error}");
        let mut said = error.to_string();
        let mut next = std::error::Error::source(error);
        while let Some(cause) = next {
            let text = cause.to_string();
            // Some errors already contain the text of their cause.
            if !said.contains(&text) {
                told += &format!(": {text}");
            }
            said = text;
            next = cause.source();
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_not_a_store_is_refused_when_it_is_opened() {
        for text in ["runs.db", "sqlite:", "mysql://me:secret@host/flows", ""] {
            let store = StoreAddress::from(text);
            assert_eq!(store.file(), None, "{text}");
            let error = store.open().await.map(drop).unwrap_err();
            let told = store.explain(&error);
            assert!(told.contains("is not a store: write `sqlite:`"), "{told}");
            let all = format!("{told} {error:?} {store} {store:?}");
            assert!(!all.contains("secret"), "{all}");
        }
    }

    #[test]
    fn the_letters_of_a_scheme_may_be_capitals() {
        let store = StoreAddress::from("SQLite:runs.db");
        assert_eq!(store.file(), Some(Path::new("runs.db")));
    }

    #[cfg(feature = "postgres")]
    #[tokio::test]
    async fn an_address_of_a_database_says_why_it_cannot_be_opened() {
        for scheme in ["postgres", "PostgreSQL"] {
            let url = format!("{scheme}://me:secret@127.0.0.1:1/flows?connect_timeout=1");
            let store = StoreAddress::from(url.as_str());
            assert_eq!(store.file(), None);
            let error = store.open().await.map(drop).unwrap_err();
            let told = store.explain(&error);
            assert!(
                told.contains("postgres://me@127.0.0.1:1/flows")
                    && told.contains("cannot be reached"),
                "{told}"
            );
            assert!(!format!("{told} {store:?}").contains("secret"), "{told}");
        }
    }

    #[cfg(not(feature = "postgres"))]
    #[tokio::test]
    async fn a_database_needs_the_feature() {
        let store = StoreAddress::from("POSTGRES://me:secret@host/flows");
        let error = store.open().await.map(drop).unwrap_err();
        let told = format!("{} {error:?}", store.explain(&error));
        assert!(told.contains("the feature `postgres`"), "{told}");
        assert!(!told.contains("secret"), "{told}");
    }

    #[cfg(feature = "redis")]
    #[tokio::test]
    async fn an_address_of_a_redis_server_says_why_it_cannot_be_opened() {
        for (address, words) in [
            (
                "redis://127.0.0.1:1?durability=some",
                "the durability `some`",
            ),
            (
                "REDIS://me:secret@127.0.0.1:1?naem=a",
                "the parameter `naem`",
            ),
            ("rediss://:secret@127.0.0.1:1/0", "cannot be reached"),
            (
                "rediss://:secret@127.0.0.1:1/0?cacert=/nowhere.pem",
                "/nowhere.pem",
            ),
            (
                "redis+unix:///nowhere?pass=secret&naem=a",
                "the parameter `naem`",
            ),
        ] {
            let store = StoreAddress::from(address);
            assert_eq!(store.file(), None);
            let error = store.open().await.map(drop).unwrap_err();
            let told = store.explain(&error);
            assert!(told.starts_with("redis") && told.contains(words), "{told}");
            let all = format!("{told} {error:?} {store} {store:?}");
            assert!(!all.contains("secret"), "{all}");
        }
    }

    #[cfg(not(feature = "redis"))]
    #[tokio::test]
    async fn a_redis_server_needs_the_feature() {
        let store = StoreAddress::from("redis://:secret@host:6379/0");
        let error = store.open().await.map(drop).unwrap_err();
        let told = format!("{} {error:?}", store.explain(&error));
        assert!(told.contains("the feature `redis`"), "{told}");
        assert!(!told.contains("secret"), "{told}");
    }
}
