//! Credentials in an encrypted file.

use std::fs;
use std::path::PathBuf;
use std::thread;

use flow_loader::{
    CredentialFile, CredentialFileError, CredentialKey, Credentials as _, ExposeSecret as _,
    registry,
};
use flow_runtime::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{answer, loaded, refused};

#[derive(Deserialize)]
struct Sign {
    token: String,
}

#[node(writes = answer)]
impl Sign {
    fn exec(&self, question: &str) -> String {
        format!("{question} {}", self.token)
    }
}

fn key(byte: u8) -> CredentialKey {
    CredentialKey::new([byte; 32])
}

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("credentials.json");
    (folder, path)
}

/// A file with two secrets.
fn written() -> (TempDir, PathBuf) {
    let (folder, path) = folder();
    let file = CredentialFile::open_or_create(&path, key(1)).unwrap();
    file.set("pages", "s3cr3t".into()).unwrap();
    file.set("shop", "hunter2".into()).unwrap();
    (folder, path)
}

fn json(path: &PathBuf) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn secret(file: &CredentialFile, name: &str) -> Option<String> {
    let secret = file.get(name).unwrap();
    secret.map(|secret| secret.expose_secret().to_owned())
}

#[tokio::test]
async fn a_flow_gets_what_was_set_last() {
    let (_folder, path) = written();
    let file = CredentialFile::open(&path, key(1)).unwrap();
    let registry = registry![Sign].provide_credentials(file);
    let params = json!({ "token": "@cred:pages" });
    let flow = loaded("Sign", &params, &registry).unwrap();
    assert_eq!(answer(&flow).await, "why? s3cr3t");

    let other_process = CredentialFile::open_or_create(&path, key(1)).unwrap();
    other_process.set("pages", "changed".into()).unwrap();
    let flow = loaded("Sign", &params, &registry).unwrap();
    assert_eq!(answer(&flow).await, "why? changed");

    assert!(other_process.remove("pages").unwrap());
    assert!(!other_process.remove("pages").unwrap());
    assert_eq!(
        refused("Sign", &json!({ "token": "@cred:shpo" }), &registry),
        "there is no credential `shpo` [F015]\nat /nodes/0/params/token\nhelp: did you mean `shop`?"
    );
}

#[test]
fn the_file_has_names_and_nothing_else_that_can_be_read() {
    let (folder, path) = written();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("pages") && text.contains("shop"));
    for secret in ["s3cr3t", "hunter2", "733363723374"] {
        assert!(!text.contains(secret), "{text}");
    }
    let file = CredentialFile::open(&path, key(1)).unwrap();
    assert!(!format!("{file:?}").contains("[1, 1"), "{file:?}");
    // The same text is sealed with another nonce each time.
    let before = json(&path);
    file.set("pages", "s3cr3t".into()).unwrap();
    let after = json(&path);
    assert_ne!(
        before["credentials"]["pages"],
        after["credentials"]["pages"]
    );
    assert_eq!(before["credentials"]["shop"], after["credentials"]["shop"]);
    // No temporary file is left.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_file_that_is_missing() {
    let (_folder, path) = folder();
    let error = CredentialFile::open(&path, key(1)).unwrap_err();
    assert!(matches!(error, CredentialFileError::Missing { .. }));
    assert_eq!(
        error.to_string(),
        format!("there is no file `{}`", path.display())
    );

    let file = CredentialFile::open_or_create(&path, key(1)).unwrap();
    assert_eq!(file.names(), [""; 0]);
    assert_eq!(secret(&file, "pages"), None);
    fs::remove_file(&path).unwrap();
    assert!(file.get("pages").is_err());
}

#[test]
fn why_a_file_cannot_be_read_is_said_where_it_is_needed() {
    let (_folder, path) = written();
    let file = CredentialFile::open(&path, key(1)).unwrap();
    let registry = registry![Sign].provide_credentials(file);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let message = refused("Sign", &json!({ "token": "@cred:pages" }), &registry);
    let expected = format!(
        "the credential `pages` cannot be read: `{}` cannot be read or written: ",
        path.display()
    );
    assert!(message.starts_with(&expected), "{message}");
}

#[test]
fn another_key() {
    let (_folder, path) = written();
    for error in [
        CredentialFile::open(&path, key(2)).unwrap_err(),
        CredentialFile::open_or_create(&path, key(2)).unwrap_err(),
    ] {
        assert!(
            matches!(error, CredentialFileError::WrongKey { .. }),
            "{error}"
        );
    }
    let file = CredentialFile::open(&path, key(1)).unwrap();
    assert_eq!(secret(&file, "pages").as_deref(), Some("s3cr3t"));
}

#[test]
fn a_secret_that_was_changed_or_moved_is_damaged() {
    let (_folder, path) = written();
    let whole = json(&path);
    let file = CredentialFile::open(&path, key(1)).unwrap();
    let shop = whole["credentials"]["shop"].as_str().unwrap();
    let flipped = shop.chars().rev().collect::<String>();
    for damaged in [shop, &flipped, &shop[2..], "", "zz", "0"] {
        let mut changed = whole.clone();
        changed["credentials"]["pages"] = json!(damaged);
        fs::write(&path, changed.to_string()).unwrap();
        let message = file.get("pages").unwrap_err().to_string();
        assert_eq!(
            message,
            format!("`pages` in `{}` is damaged", path.display())
        );
        // The other secret is as it was.
        assert_eq!(secret(&file, "shop").as_deref(), Some("hunter2"));
    }
}

#[test]
fn a_file_that_was_changed_is_damaged() {
    let (_folder, path) = written();
    let whole = fs::read_to_string(&path).unwrap();
    let file = CredentialFile::open(&path, key(1)).unwrap();
    let half = &whole[..whole.len() / 2];
    let other = whole.replace("\"key\"", "\"kex\"");
    for damaged in ["", "{}", "[1]", half, &other, "\u{0}"] {
        fs::write(&path, damaged).unwrap();
        let error = CredentialFile::open(&path, key(1)).unwrap_err();
        assert!(
            matches!(error, CredentialFileError::Damaged { name: None, .. }),
            "{damaged}: {error}"
        );
        // Nothing is lost by writing over it.
        assert!(file.set("pages", "new".into()).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), damaged);
    }
    fs::write(&path, whole.replace("\"version\": 1", "\"version\": 2")).unwrap();
    let error = CredentialFile::open(&path, key(1)).unwrap_err();
    assert!(
        matches!(error, CredentialFileError::Version { version: 2, .. }),
        "{error}"
    );
}

#[test]
fn a_file_that_cannot_be_written_is_as_it_was() {
    let (folder, path) = written();
    let before = fs::read(&path).unwrap();
    let file = CredentialFile::open(&path, key(1)).unwrap();
    let lock = folder.path().join("credentials.json.lock");
    fs::remove_file(&lock).unwrap();
    fs::create_dir(&lock).unwrap();
    let error = file.set("pages", "new".into()).unwrap_err();
    assert!(matches!(error, CredentialFileError::Io { .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn nobody_sees_half_a_file_and_nothing_is_lost() {
    let (_folder, path) = written();
    let open = || CredentialFile::open(&path, key(1)).unwrap();
    thread::scope(|scope| {
        for writer in 0..4 {
            scope.spawn(move || {
                for number in 0..20 {
                    let name = format!("{writer}-{number}");
                    open().set(&name, name.as_str().into()).unwrap();
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..200 {
                assert_eq!(secret(&open(), "pages").as_deref(), Some("s3cr3t"));
            }
        });
    });
    assert_eq!(open().names().len(), 82);
    assert_eq!(secret(&open(), "3-19").as_deref(), Some("3-19"));
}

/// Somebody who can write in the folder cannot have another file emptied, or a program wait for ever.
#[cfg(unix)]
#[test]
fn a_lock_that_leads_elsewhere_empties_nothing() {
    let (folder, path) = written();
    let precious = folder.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    let lock = folder.path().join("credentials.json.lock");
    fs::remove_file(&lock).unwrap();
    std::os::unix::fs::symlink(&precious, &lock).unwrap();
    let file = CredentialFile::open(&path, key(1)).unwrap();
    file.set("pages", "new".into()).unwrap();
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
    assert_eq!(secret(&file, "pages").as_deref(), Some("new"));
}

/// As Kubernetes mounts a file: whoever follows the link sees what was set.
#[cfg(unix)]
#[test]
fn a_link_to_the_file_stays_a_link() {
    let (folder, path) = written();
    let link = folder.path().join("link.json");
    std::os::unix::fs::symlink("credentials.json", &link).unwrap();
    let linked = CredentialFile::open(&link, key(1)).unwrap();
    linked.set("pages", "new".into()).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    let file = CredentialFile::open(&path, key(1)).unwrap();
    assert_eq!(secret(&file, "pages").as_deref(), Some("new"));
}

#[cfg(unix)]
#[test]
fn what_is_not_a_regular_file_is_not_read() {
    let (_folder, path) = folder();
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    let error = CredentialFile::open_or_create(&path, key(1)).unwrap_err();
    assert!(matches!(error, CredentialFileError::Io { .. }), "{error}");
    let why = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(why, "it is not a regular file");
    let zeros = CredentialFile::open("/dev/zero", key(1)).unwrap_err();
    assert!(matches!(zeros, CredentialFileError::Io { .. }), "{zeros}");
}

#[test]
fn a_file_without_end_is_not_read_to_its_end() {
    let (_folder, path) = written();
    let file = fs::File::options().write(true).open(&path).unwrap();
    // On Windows, the disk needs the room for it.
    let length = if cfg!(windows) { 17 << 20 } else { 1 << 40 };
    file.set_len(length).unwrap();
    let error = CredentialFile::open(&path, key(1)).unwrap_err();
    let why = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(why, "it is too large");
}

/// Of two secrets of one name, the one that is read must not be the one that somebody has put there.
#[test]
fn a_name_that_is_there_twice_is_damage() {
    let (_folder, path) = written();
    let whole = fs::read_to_string(&path).unwrap();
    let earlier = json(&path)["credentials"]["pages"].clone();
    let file = CredentialFile::open(&path, key(1)).unwrap();
    file.set("pages", "changed".into()).unwrap();
    let now = fs::read_to_string(&path).unwrap();
    assert_ne!(now, whole);
    let twice = now.replace("\"shop\"", &format!("\"pages\": {earlier}, \"shop\""));
    fs::write(&path, twice).unwrap();
    let error = file.get("pages").unwrap_err().to_string();
    assert!(
        error.ends_with("is not a file of credentials, or is damaged"),
        "{error}"
    );
}
