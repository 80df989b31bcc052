//! Places for blobs by their addresses.

use std::sync::Arc;

use flow_store::{Blobs, StoreError};

use crate::FolderBlobs;
use crate::error::Failure;

/// Opens the place for blobs that a text says: the path of a folder, which is made if it is not there,
/// or an address of an object store if the program has the feature for it.
///
/// | address | of | feature |
/// |---|---|---|
/// | `blobs`, `/srv/blobs` | a folder | |
/// | `s3://bucket/prefix` | S3, and what speaks its language | `aws` |
/// | `gs://bucket/prefix` | Google Cloud Storage | `gcp` |
/// | `az://container/prefix` | Azure Blob Storage | `azure` |
/// | `https://host/prefix` | a server with WebDAV | `http` |
///
/// Keys and settings of an object store are read from the environment, by the names that
/// `object_store` documents and that begin with `AWS_`, `GOOGLE_` or `AZURE_`: `AWS_ACCESS_KEY_ID`,
/// `AWS_REGION`, `AWS_ENDPOINT` and so on. It is asked for a listing, so that what is wrong with them
/// is found at once.
///
/// # Errors
///
/// The text is not such an address, a user or a password is in it, the feature is missing, or the
/// place cannot be reached.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let refused = flow_blobs::open("ftp://host/blobs").await.unwrap_err();
/// let told = std::error::Error::source(&refused).unwrap().to_string();
/// assert!(told.starts_with("`ftp://host/blobs` is not a place for blobs"), "{told}");
/// # }
/// ```
pub async fn open(address: &str) -> Result<Arc<dyn Blobs>, StoreError> {
    match address.split_once("://") {
        None if address.is_empty() => Err(not_a_place(address).into()),
        None => Ok(Arc::new(FolderBlobs::open(address).await?)),
        Some((scheme, _)) => {
            let scheme = scheme.to_ascii_lowercase();
            let kind = Kind::of(&scheme).ok_or_else(|| not_a_place(address))?;
            kind.open(address).await
        }
    }
}

fn not_a_place(address: &str) -> Failure {
    Failure::NotAPlace {
        address: shown(address),
    }
}

/// An address without what may be a secret in it.
fn shown(address: &str) -> String {
    match address.split_once("://") {
        Some((scheme, rest)) => {
            let rest = rest.split_once('?').map_or(rest, |(rest, _)| rest);
            let host = rest.find('/').unwrap_or(rest.len());
            let user = rest[..host].rfind('@').map_or(0, |at| at + 1);
            format!("{scheme}://{}", &rest[user..])
        }
        None => address.to_owned(),
    }
}

/// A kind of object stores.
#[derive(Clone, Copy)]
struct Kind {
    /// The feature for it.
    feature: &'static str,
    is_built_in: bool,
}

impl Kind {
    fn of(scheme: &str) -> Option<Kind> {
        let (feature, is_built_in) = match scheme {
            "s3" | "s3a" => ("aws", cfg!(feature = "aws")),
            "gs" => ("gcp", cfg!(feature = "gcp")),
            "az" | "adl" | "azure" | "abfs" | "abfss" => ("azure", cfg!(feature = "azure")),
            "http" | "https" => ("http", cfg!(feature = "http")),
            _ => return None,
        };
        Some(Kind {
            feature,
            is_built_in,
        })
    }

    async fn open(self, address: &str) -> Result<Arc<dyn Blobs>, StoreError> {
        if !self.is_built_in {
            let failure = Failure::NoFeature {
                address: shown(address),
                feature: self.feature,
            };
            return Err(failure.into());
        }
        at_url(address).await
    }
}

/// How the names of settings in the environment begin. `object_store` would take `TOKEN`, `TIMEOUT`
/// or `PROXY_URL` as well, which may be meant for something else.
#[cfg(feature = "objects")]
const PREFIXES: [&str; 3] = ["AWS_", "GOOGLE_", "AZURE_"];

#[cfg(feature = "objects")]
async fn at_url(address: &str) -> Result<Arc<dyn Blobs>, StoreError> {
    use object_store::parse_url_opts;

    let unreachable = |source| Failure::Unreachable {
        address: shown(address),
        source,
    };
    let url = url::Url::parse(address).map_err(|_| not_a_place(address))?;
    // Azure has addresses such as `abfss://container@account.dfs.core.windows.net`.
    let is_container = url.scheme().starts_with("abfs") && url.password().is_none();
    let has_user = !url.username().is_empty() || url.password().is_some();
    if has_user && !is_container {
        let address = shown(address);
        return Err(Failure::WithUser { address }.into());
    }
    let settings = std::env::vars_os()
        .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(key, _)| PREFIXES.iter().any(|prefix| key.starts_with(prefix)));
    let (objects, prefix) =
        parse_url_opts(&url, settings).map_err(|error| unreachable(error.into()))?;
    let blobs = crate::ObjectBlobs::new(objects.into(), prefix);
    match blobs.look().await {
        Ok(()) => Ok(Arc::new(blobs)),
        Err(error) => Err(unreachable(error.into()).into()),
    }
}

#[cfg(not(feature = "objects"))]
async fn at_url(address: &str) -> Result<Arc<dyn Blobs>, StoreError> {
    unreachable!("no kind of object store is built in: {address}")
}
