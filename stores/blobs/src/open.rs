//! Opens places for blobs by their addresses.

use std::sync::Arc;

use flow_store::{Blobs, StoreError};

use crate::FolderBlobs;
use crate::error::Failure;

/// Opens the place for blobs at an address: the path of a folder, which is created if missing, or
/// the address of an object store if the program has its feature.
///
/// | address | place | feature |
/// |---|---|---|
/// | `blobs`, `/srv/blobs` | a folder | |
/// | `s3://bucket/prefix` | S3 and compatible servers | `aws` |
/// | `gs://bucket/prefix` | Google Cloud Storage | `gcp` |
/// | `az://container/prefix` | Azure Blob Storage | `azure` |
/// | `https://host/prefix` | a server with WebDAV | `http` |
///
/// Keys and settings of an object store are read from the environment, under the names that
/// `object_store` documents and that begin with `AWS_`, `GOOGLE_` or `AZURE_`: `AWS_ACCESS_KEY_ID`,
/// `AWS_REGION`, `AWS_ENDPOINT` and so on. A listing is requested at once, to find wrong settings.
///
/// # Errors
///
/// The address is invalid, it contains a user or a password, the feature is missing, or the place
/// cannot be reached.
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

/// Returns an address without its possible secrets.
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

/// The prefixes of settings in the environment. `object_store` would also accept `TOKEN`, `TIMEOUT`
/// or `PROXY_URL`, which may be meant for something else.
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
