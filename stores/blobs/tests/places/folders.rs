//! Blobs in a folder.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use flow_blobs::{Blobs, FolderBlobs};
use flow_store::suite::fixtures::told;
use tempfile::TempDir;

mod suite {
    flow_store::blob_suite!(|folder| async move {
        let blobs = flow_blobs::FolderBlobs::open(folder.join("some/blobs")).await;
        Some(blobs.unwrap())
    });
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut names: Vec<_> = files
        .map(|file| file.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_blob_is_a_file_and_no_folder_is_left_empty() {
    let folder = folder();
    let blobs = FolderBlobs::open(folder.path()).await.unwrap();
    blobs.put("a/b", b"value".to_vec()).await.unwrap();
    assert_eq!(fs::read(folder.path().join("a/b")).unwrap(), b"value");
    assert_eq!(names(folder.path()), [".new", "a"]);
    blobs.delete("a/b").await.unwrap();
    assert_eq!(names(folder.path()), [".new"]);
    assert!(names(&folder.path().join(".new")).is_empty());
    let again = flow_blobs::open(folder.path().to_str().unwrap())
        .await
        .unwrap();
    assert!(again.folders().await.unwrap().is_empty());
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_made_belongs_to_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = folder();
    let root = folder.path().join("made/blobs");
    let blobs = FolderBlobs::open(&root).await.unwrap();
    blobs.put("a/b", b"value".to_vec()).await.unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for (path, expected) in [("", 0o700), ("..", 0o700), ("a", 0o700), ("a/b", 0o600)] {
        assert_eq!(mode(&root.join(path)), expected, "{path}");
    }
}

/// A process that crashes while it writes leaves a file that is no blob, and is removed a day later.
#[tokio::test]
async fn what_was_not_written_to_its_end_is_no_blob() {
    let folder = folder();
    let blobs = FolderBlobs::open(folder.path()).await.unwrap();
    let new = folder.path().join(".new");
    for (name, hours) in [("old", 25), ("young", 23)] {
        let file = File::create(new.join(name)).unwrap();
        let age = Duration::from_secs(hours * 3600);
        file.set_modified(SystemTime::now() - age).unwrap();
    }
    assert!(blobs.folders().await.unwrap().is_empty());
    blobs.names(".new").await.unwrap_err();
    FolderBlobs::open(folder.path()).await.unwrap();
    assert_eq!(names(&new), ["young"]);
}

/// Nothing depends on whether it is removed.
#[cfg(unix)]
#[tokio::test]
async fn what_cannot_be_removed_keeps_nobody_from_the_blobs() {
    let folder = folder();
    FolderBlobs::open(folder.path()).await.unwrap();
    // A folder is not removed like a file.
    let old = folder.path().join(".new/old");
    fs::create_dir(&old).unwrap();
    let age = Duration::from_secs(25 * 3600);
    let opened = File::open(&old).unwrap();
    opened.set_modified(SystemTime::now() - age).unwrap();
    let blobs = FolderBlobs::open(folder.path()).await.unwrap();
    blobs.put("a/b", Vec::new()).await.unwrap();
}

/// What somebody else put there is no blob either.
#[tokio::test]
async fn files_of_others_are_left_alone() {
    let folder = folder();
    let blobs = FolderBlobs::open(folder.path()).await.unwrap();
    blobs.put("a/b", b"value".to_vec()).await.unwrap();
    fs::write(folder.path().join("README"), "").unwrap();
    fs::write(folder.path().join("a/Thumbs.db"), "").unwrap();
    assert_eq!(blobs.folders().await.unwrap(), ["a"]);
    assert_eq!(blobs.names("a").await.unwrap(), ["a/b"]);
    blobs.delete("a/b").await.unwrap();
    assert_eq!(names(&folder.path().join("a")), ["Thumbs.db"]);
}

#[tokio::test]
async fn what_is_not_a_folder_is_refused() {
    let folder = folder();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = told(&FolderBlobs::open(&file).await.unwrap_err());
    let expected = format!(
        "the folder `{}` cannot be used for blobs: it is not a folder",
        file.display()
    );
    assert!(error.contains(&expected), "{error}");
    let below = told(&FolderBlobs::open(file.join("below")).await.unwrap_err());
    assert!(below.contains("cannot be used for blobs"), "{below}");
}

#[tokio::test]
async fn a_folder_that_is_gone_is_an_error_that_names_the_blob() {
    let folder = folder();
    let root = folder.path().join("blobs");
    let blobs = FolderBlobs::open(&root).await.unwrap();
    fs::remove_dir_all(&root).unwrap();
    let error = blobs.put("a/b", b"value".to_vec()).await.unwrap_err();
    assert!(
        told(&error).contains("the blob `a/b` cannot be written"),
        "{error:?}"
    );
}
