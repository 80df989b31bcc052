//! Where executions are stored.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use flow_durable::{Runtime, RuntimeOptions, StoreError};
#[cfg(feature = "postgres")]
use flow_postgres::PostgresStore;
use flow_sqlite::SqliteStore;

/// Where executions are stored, as on a command line: `sqlite:runs.db`, or with the feature
/// `postgres` also `postgres://user@host/database`.
///
/// When it is shown, a password in it is left out.
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
#[derive(Clone, PartialEq, Eq)]
pub struct StoreAddress {
    place: Place,
}

#[derive(Clone, PartialEq, Eq)]
enum Place {
    File(PathBuf),
    #[cfg(feature = "postgres")]
    Postgres(String),
}

/// A text that is not the address of a store.
#[derive(Clone, PartialEq, Eq)]
pub struct InvalidStore {
    text: String,
}

/// Returns true for the address of a Postgres database.
fn is_postgres(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

impl fmt::Display for InvalidStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = shown(&self.text);
        if is_postgres(&self.text) {
            return write!(
                f,
                "`{text}` is a Postgres database, and this program was built without the feature `postgres`"
            );
        }
        let or_postgres = if cfg!(feature = "postgres") {
            ", or `postgres://user@host/database`"
        } else {
            ""
        };
        write!(
            f,
            "`{text}` is not a store: write `sqlite:` and the path of a file, such as `sqlite:runs.db`{or_postgres}"
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

impl FromStr for StoreAddress {
    type Err = InvalidStore;

    fn from_str(text: &str) -> Result<Self, InvalidStore> {
        #[cfg(feature = "postgres")]
        if is_postgres(text) {
            let place = Place::Postgres(text.to_owned());
            return Ok(StoreAddress { place });
        }
        match text.strip_prefix("sqlite:") {
            Some(file) if !file.is_empty() => Ok(StoreAddress {
                place: Place::File(file.into()),
            }),
            _ => Err(InvalidStore {
                text: text.to_owned(),
            }),
        }
    }
}

/// The address of a database without the password, which may stand after the user's name or among
/// the parameters.
fn shown(text: &str) -> String {
    if !is_postgres(text) {
        return text.to_owned();
    }
    let without = match (text.split_once("://"), text.rsplit_once('@')) {
        (Some((scheme, rest)), Some((_, host))) => {
            let user = rest.split([':', '@']).next().unwrap_or_default();
            format!("{scheme}://{user}@{host}")
        }
        _ => text.to_owned(),
    };
    let (address, parameters) = match without.split_once('?') {
        Some((address, parameters)) => (address, Some(parameters)),
        None => (without.as_str(), None),
    };
    let mut shown = address.to_owned();
    let parameters = parameters.into_iter().flat_map(|them| them.split('&'));
    let harmless = parameters.filter(|it| !it.to_ascii_lowercase().contains("password"));
    for (parameter, before) in harmless.zip("?".chars().chain(std::iter::repeat('&'))) {
        shown.push(before);
        shown.push_str(parameter);
    }
    shown
}

impl fmt::Display for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::File(file) => write!(f, "sqlite:{}", file.display()),
            #[cfg(feature = "postgres")]
            Place::Postgres(url) => f.write_str(&shown(url)),
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
    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match &self.place {
            Place::File(file) => Some(file),
            #[cfg(feature = "postgres")]
            Place::Postgres(_) => None,
        }
    }

    /// A runtime on the store, without flows. If there is no such file, it is made; if the database
    /// has no tables yet, they are made.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, or is not one of this library; the database cannot be reached.
    /// [`explain`](Self::explain) makes a text of it.
    pub async fn open(&self) -> Result<Runtime, StoreError> {
        self.open_with(RuntimeOptions::new()).await
    }

    /// A runtime on the store with these options.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub async fn open_with(&self, options: RuntimeOptions) -> Result<Runtime, StoreError> {
        match &self.place {
            Place::File(file) => {
                let store = SqliteStore::open(file).await?;
                Ok(Runtime::with_options(store, options))
            }
            #[cfg(feature = "postgres")]
            Place::Postgres(url) => {
                let store = PostgresStore::connect(url).await?;
                Ok(Runtime::with_options(store, options))
            }
        }
    }

    /// What to tell a person if the store cannot be opened: the address, and the error with its
    /// causes.
    pub fn explain(&self, error: &StoreError) -> String {
        let mut told = format!("{self}: {error}");
        let mut said = error.to_string();
        let mut next = std::error::Error::source(error);
        while let Some(cause) = next {
            let text = cause.to_string();
            // Some errors say themselves what their cause says.
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

    #[test]
    fn passwords_are_not_shown() {
        for (text, without) in [
            ("postgres://me@host/flows", "postgres://me@host/flows"),
            ("postgres://host/flows", "postgres://host/flows"),
            (
                "postgres://me:se:cr@t@host:1/flows?password=secret&a=b&c=d",
                "postgres://me@host:1/flows?a=b&c=d",
            ),
            ("postgresql://me:secret@host?", "postgresql://me@host?"),
            ("postgres://me:se?cret@host/a", "postgres://me@host/a"),
            ("postgres://", "postgres://"),
            ("postgres://@", "postgres://@"),
        ] {
            assert_eq!(shown(text), without, "{text}");
        }
        let error = InvalidStore {
            text: "postgres://me:secret@host/flows".to_owned(),
        };
        assert!(!format!("{error} {error:?}").contains("secret"));
    }

    #[cfg(feature = "postgres")]
    #[tokio::test]
    async fn an_address_of_a_database_says_why_it_cannot_be_opened() {
        let url = "postgres://me:secret@127.0.0.1:1/flows?connect_timeout=1";
        let store: StoreAddress = url.parse().unwrap();
        assert_eq!(store.file(), None);
        let error = store.open().await.map(drop).unwrap_err();
        let told = store.explain(&error);
        assert!(
            told.contains("postgres://me@127.0.0.1:1/flows") && told.contains("cannot be reached"),
            "{told}"
        );
        assert!(!format!("{told} {store:?}").contains("secret"), "{told}");
    }

    #[cfg(not(feature = "postgres"))]
    #[test]
    fn a_database_needs_the_feature() {
        let error = "postgres://host/flows".parse::<StoreAddress>().unwrap_err();
        assert!(error.to_string().contains("the feature `postgres`"));
    }
}
