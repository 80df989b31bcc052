//! The errors of places for blobs.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use flow_store::StoreError;

type Source = Box<dyn Error + Send + Sync>;

/// The attempted operation.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("the folder `{}` cannot be used for blobs", .folder.display())]
    Folder { folder: PathBuf, source: Source },
    #[error("the blob `{name}` cannot be written")]
    Put { name: String, source: Source },
    #[error("the blob `{name}` cannot be read")]
    Get { name: String, source: Source },
    #[error("the blob `{name}` cannot be deleted")]
    Delete { name: String, source: Source },
    #[error("the blobs cannot be listed")]
    List { source: Source },
    #[error("the blobs at `{address}` cannot be reached")]
    #[cfg(feature = "objects")]
    Unreachable { address: String, source: Source },
    #[error(
        "`{address}` is not a place for blobs: write the path of a folder, or an address such as \
         `s3://bucket/prefix`"
    )]
    NotAPlace { address: String },
    #[error(
        "`{address}` was given with a user or a password, which errors would show: the keys of an \
         object store belong in the environment, and those of a server with WebDAV in a header of an \
         `HttpStore` for `ObjectBlobs::new`"
    )]
    #[cfg(feature = "objects")]
    WithUser { address: String },
    #[error(
        "`{address}` needs the feature `{feature}` of typed-flows-blobs, without which this program was built"
    )]
    NoFeature {
        address: String,
        feature: &'static str,
    },
}

impl Failure {
    pub(crate) fn of_folder(folder: &Path, error: io::Error) -> Failure {
        Failure::Folder {
            folder: folder.to_owned(),
            source: Box::new(error),
        }
    }

    pub(crate) fn put(name: &str) -> impl FnOnce(Source) -> Failure {
        |source| Failure::Put {
            name: name.to_owned(),
            source,
        }
    }

    pub(crate) fn get(name: &str) -> impl FnOnce(Source) -> Failure {
        |source| Failure::Get {
            name: name.to_owned(),
            source,
        }
    }

    pub(crate) fn delete(name: &str) -> impl FnOnce(Source) -> Failure {
        |source| Failure::Delete {
            name: name.to_owned(),
            source,
        }
    }

    pub(crate) fn list(source: Source) -> Failure {
        Failure::List { source }
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> StoreError {
        let is_full = |error: &io::Error| {
            let kind = error.kind();
            matches!(
                kind,
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
            )
        };
        let mut cause: Option<&(dyn Error + 'static)> = Some(&failure);
        while let Some(error) = cause {
            if error.downcast_ref().is_some_and(is_full) {
                return StoreError::Full(Box::new(failure));
            }
            cause = error.source();
        }
        StoreError::Other(Box::new(failure))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_without_room_is_said_as_such() {
        for (kind, is_full) in [
            (io::ErrorKind::StorageFull, true),
            (io::ErrorKind::QuotaExceeded, true),
            (io::ErrorKind::PermissionDenied, false),
        ] {
            let source = Box::new(io::Error::from(kind));
            let error = StoreError::from(Failure::put("a/b")(source));
            assert_eq!(matches!(error, StoreError::Full(_)), is_full, "{kind}");
            let cause = error.source().unwrap().to_string();
            assert_eq!(cause, "the blob `a/b` cannot be written");
        }
    }
}
