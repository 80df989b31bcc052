//! Credentials in an encrypted file.
//!
//! The file is JSON. Names are in clear. Each secret is sealed by itself with AES-256-GCM under its
//! own nonce, and bound to its name, so that it cannot be moved to another name.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use aes_gcm::aead::{Aead as _, Generate as _, Payload};
use aes_gcm::{Aes256Gcm, KeyInit as _, Nonce};
use secrecy::{ExposeSecret as _, SecretBox, SecretSlice, SecretString};
use serde::{Deserialize, Serialize};

use super::{Credentials, each_once};

/// The version of the layout that is written.
const VERSION: u32 = 1;

/// The maximum size of a file in bytes.
const LARGEST: u64 = 16 << 20;

/// The size of a nonce in bytes.
const NONCE: usize = 12;

/// The key of a [`CredentialFile`].
#[derive(Debug)]
pub struct CredentialKey(SecretBox<[u8; 32]>);

impl CredentialKey {
    /// Creates a key from these bytes, which have to be random: a password is not a key.
    pub fn new(bytes: [u8; 32]) -> Self {
        CredentialKey(SecretBox::new(Box::new(bytes)))
    }

    /// Reads the key from an environment variable: 64 hexadecimal digits, such as `openssl rand
    /// -hex 32` writes.
    ///
    /// # Errors
    ///
    /// The variable is not set, or does not contain such digits.
    pub fn from_variable(name: &str) -> Result<Self, CredentialFileError> {
        let no_key = |reason| CredentialFileError::NoKey {
            variable: name.to_owned(),
            reason,
        };
        let text = env::var_os(name).ok_or_else(|| no_key("it is not set"))?;
        let text = SecretString::from(text.into_string().unwrap_or_default());
        CredentialKey::from_hex(&text).ok_or_else(|| no_key("it is not 64 hexadecimal digits"))
    }

    fn from_hex(text: &SecretString) -> Option<Self> {
        let bytes = SecretSlice::from(from_hex(text.expose_secret())?);
        let bytes = bytes.expose_secret().try_into().ok()?;
        Some(CredentialKey::new(bytes))
    }

    fn cipher(&self) -> Aes256Gcm {
        Aes256Gcm::new(self.0.expose_secret().into())
    }
}

/// Credentials in a file, encrypted with AES-256-GCM.
///
/// The file is read whenever a secret is requested, so a flow that is loaded gets the latest value.
/// Names are not encrypted. A file of more than 16 MiB is not read. Somebody who can write the file
/// cannot change a secret or move it to another name, but can remove it, or restore an older file.
///
/// # Examples
///
/// ```no_run
/// use flow_loader::{CredentialFile, CredentialKey, registry};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let key = CredentialKey::from_variable("APP_CREDENTIALS_KEY")?;
/// let credentials = CredentialFile::open("credentials.json", key)?;
/// let registry = registry![].provide_credentials(credentials);
/// # let _ = registry;
/// # Ok(()) }
/// ```
///
/// A program that sets a credential, whose text it reads from its standard input:
///
/// ```no_run
/// use flow_loader::{CredentialFile, CredentialKey};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let name = std::env::args().nth(1).ok_or("the name of a credential is missing")?;
/// let text = std::io::read_to_string(std::io::stdin())?;
/// let key = CredentialKey::from_variable("APP_CREDENTIALS_KEY")?;
/// let credentials = CredentialFile::open_or_create("credentials.json", key)?;
/// credentials.set(&name, text.trim_end().into())?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct CredentialFile {
    path: PathBuf,
    key: CredentialKey,
}

/// The contents of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    version: u32,
    /// A sealed empty text, which distinguishes another key from damage.
    key: String,
    #[serde(deserialize_with = "each_once::read")]
    credentials: BTreeMap<String, String>,
}

/// The version alone, which can be read whatever else the file contains.
#[derive(Deserialize)]
struct Header {
    version: u32,
}

impl CredentialFile {
    /// Opens the credentials in a file.
    ///
    /// # Errors
    ///
    /// The file does not exist or cannot be read, does not hold credentials, or has another key.
    pub fn open(path: impl Into<PathBuf>, key: CredentialKey) -> Result<Self, CredentialFileError> {
        let file = CredentialFile {
            path: path.into(),
            key,
        };
        file.read()?;
        Ok(file)
    }

    /// Opens the credentials in a file, which is created if there is none.
    ///
    /// # Errors
    ///
    /// See [`open`](Self::open); or the file cannot be created.
    pub fn open_or_create(
        path: impl Into<PathBuf>,
        key: CredentialKey,
    ) -> Result<Self, CredentialFileError> {
        let file = CredentialFile {
            path: path.into(),
            key,
        };
        match file.read() {
            Err(CredentialFileError::Missing { .. }) => file.change(|_, _| {})?,
            read => {
                read?;
            }
        }
        Ok(file)
    }

    /// Sets a credential, replacing any with this name. Processes that change the file wait for
    /// each other.
    ///
    /// # Errors
    ///
    /// See [`open`](Self::open); or the file cannot be written. It is then unchanged.
    pub fn set(&self, name: &str, secret: SecretString) -> Result<(), CredentialFileError> {
        self.change(|cipher, content| {
            let sealed = seal(cipher, &entry(name), secret.expose_secret().as_bytes());
            content.credentials.insert(name.to_owned(), sealed);
        })
    }

    /// Removes a credential. Returns `false` if there is none of this name.
    ///
    /// # Errors
    ///
    /// See [`set`](Self::set).
    pub fn remove(&self, name: &str) -> Result<bool, CredentialFileError> {
        let mut removed = false;
        self.change(|_, content| removed = content.credentials.remove(name).is_some())?;
        Ok(removed)
    }

    /// The contents, if they are sealed with this key.
    fn read(&self) -> Result<Content, CredentialFileError> {
        let bytes = self.bytes().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => CredentialFileError::Missing {
                path: self.path.clone(),
            },
            _ => self.failed(error),
        })?;
        let header = serde_json::from_slice(&bytes);
        let Header { version } = header.map_err(|_| self.damaged(None))?;
        if version != VERSION {
            return Err(CredentialFileError::Version {
                path: self.path.clone(),
                version,
            });
        }
        let content: Content = serde_json::from_slice(&bytes).map_err(|_| self.damaged(None))?;
        match unseal(&self.key.cipher(), KEY, &content.key) {
            Ok(_) => Ok(content),
            Err(Unsealed::Malformed) => Err(self.damaged(None)),
            Err(Unsealed::Refused) => Err(CredentialFileError::WrongKey {
                path: self.path.clone(),
            }),
        }
    }

    fn bytes(&self) -> io::Result<Vec<u8>> {
        // Checked before opening: opening a pipe waits for a writer.
        if !fs::metadata(&self.path)?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        let mut bytes = Vec::new();
        let file = File::open(&self.path)?;
        if file.take(LARGEST + 1).read_to_end(&mut bytes)? as u64 > LARGEST {
            return Err(io::Error::other("it is too large"));
        }
        Ok(bytes)
    }

    /// The file itself, if the path is a link: the link stays.
    fn target(&self) -> io::Result<PathBuf> {
        match self.path.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(self.path.clone()),
            target => target,
        }
    }

    /// Changes the contents. The new file replaces the old one once it is complete.
    fn change(
        &self,
        change: impl FnOnce(&Aes256Gcm, &mut Content),
    ) -> Result<(), CredentialFileError> {
        let failed = |error| self.failed(error);
        let path = self.target().map_err(failed)?;
        let mut lock = path.clone().into_os_string();
        lock.push(".lock");
        // The lock file is never written to, even if it is a link to something else.
        let options = File::options().append(true).create(true).open(lock);
        let lock = options.map_err(failed)?;
        lock.lock().map_err(failed)?;
        let cipher = self.key.cipher();
        let mut content = match self.read() {
            Err(CredentialFileError::Missing { .. }) => Content {
                version: VERSION,
                key: seal(&cipher, KEY, b""),
                credentials: BTreeMap::new(),
            },
            read => read?,
        };
        change(&cipher, &mut content);
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // Only its owner can read a temporary file.
        let mut new = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        let text = serde_json::to_vec_pretty(&content).map_err(|error| failed(error.into()))?;
        new.write_all(&text).map_err(failed)?;
        new.as_file().sync_all().map_err(failed)?;
        // On Windows, `persist` would not replace a file that somebody is reading.
        let (_, new) = new.keep().map_err(|error| failed(error.error))?;
        fs::rename(&new, &path).map_err(|error| {
            let _ = fs::remove_file(&new);
            failed(error)
        })
    }

    fn failed(&self, source: io::Error) -> CredentialFileError {
        CredentialFileError::Io {
            path: self.path.clone(),
            source,
        }
    }

    fn damaged(&self, name: Option<&str>) -> CredentialFileError {
        CredentialFileError::Damaged {
            path: self.path.clone(),
            name: name.map(str::to_owned),
        }
    }
}

impl Credentials for CredentialFile {
    fn get(&self, name: &str) -> Result<Option<SecretString>, Box<dyn Error + Send + Sync>> {
        let content = self.read()?;
        let Some(sealed) = content.credentials.get(name) else {
            return Ok(None);
        };
        let damaged = || self.damaged(Some(name));
        let bytes = unseal(&self.key.cipher(), &entry(name), sealed).map_err(|_| damaged())?;
        let text = String::from_utf8(bytes).map_err(|_| damaged())?;
        Ok(Some(text.into()))
    }

    fn names(&self) -> Vec<String> {
        let content = self.read();
        content.map_or_else(
            |_| Vec::new(),
            |content| content.credentials.into_keys().collect(),
        )
    }
}

/// The context to which the seal of the key is bound.
const KEY: &[u8] = b"flow credentials 1: key";

/// The context to which the seal of a secret is bound.
fn entry(name: &str) -> Vec<u8> {
    [b"flow credentials 1: secret ", name.as_bytes()].concat()
}

/// Encrypts a text, and writes the nonce and the result as hexadecimal digits.
fn seal(cipher: &Aes256Gcm, bound: &[u8], text: &[u8]) -> String {
    let nonce = Nonce::generate();
    let payload = Payload {
        msg: text,
        aad: bound,
    };
    match cipher.encrypt(&nonce, payload) {
        Ok(sealed) => nonce
            .iter()
            .chain(&sealed)
            .map(|byte| format!("{byte:02x}"))
            .collect(),
        Err(_) => unreachable!("only 64 GiB are too much"),
    }
}

/// The reason why a text cannot be decrypted.
enum Unsealed {
    /// It is not what [`seal`] writes.
    Malformed,
    /// It was sealed with another key, is bound to something else, or was changed.
    Refused,
}

fn unseal(cipher: &Aes256Gcm, bound: &[u8], sealed: &str) -> Result<Vec<u8>, Unsealed> {
    let bytes = from_hex(sealed).ok_or(Unsealed::Malformed)?;
    let (nonce, msg) = bytes.split_at_checked(NONCE).ok_or(Unsealed::Malformed)?;
    let nonce = nonce.try_into().map_err(|_| Unsealed::Malformed)?;
    let payload = Payload { msg, aad: bound };
    cipher
        .decrypt(nonce, payload)
        .map_err(|_| Unsealed::Refused)
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |digit: &u8| (*digit as char).to_digit(16);
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else {
        return None;
    };
    let bytes = pairs.iter().map(|[high, low]| {
        let byte = digit(high)? * 16 + digit(low)?;
        u8::try_from(byte).ok()
    });
    bytes.collect()
}

/// The reason why a [`CredentialFile`] cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum CredentialFileError {
    /// An environment variable does not contain a key.
    #[non_exhaustive]
    NoKey {
        /// The name of the variable.
        variable: String,
        /// The mistake.
        reason: &'static str,
    },
    /// There is no such file.
    #[non_exhaustive]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// The file cannot be read or written.
    #[non_exhaustive]
    Io {
        /// The path.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// The file was written by a newer version of this crate.
    #[non_exhaustive]
    Version {
        /// The path.
        path: PathBuf,
        /// The version of its layout.
        version: u32,
    },
    /// The file is encrypted with another key.
    #[non_exhaustive]
    WrongKey {
        /// The path.
        path: PathBuf,
    },
    /// The file, or one of its secrets, was altered.
    #[non_exhaustive]
    Damaged {
        /// The path.
        path: PathBuf,
        /// The name of the secret. `None` for the file as a whole.
        name: Option<String>,
    },
}

impl fmt::Display for CredentialFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CredentialFileError::NoKey { variable, reason } => {
                write!(
                    f,
                    "the variable `{variable}` does not contain a key: {reason}"
                )
            }
            CredentialFileError::Missing { path } => {
                write!(f, "there is no file `{}`", path.display())
            }
            CredentialFileError::Io { path, .. } => {
                write!(f, "`{}` cannot be read or written", path.display())
            }
            CredentialFileError::Version { path, version } => write!(
                f,
                "`{}` has version {version}, and this program knows version {VERSION}",
                path.display()
            ),
            CredentialFileError::WrongKey { path } => {
                write!(f, "`{}` is encrypted with another key", path.display())
            }
            CredentialFileError::Damaged { path, name: None } => {
                write!(
                    f,
                    "`{}` is not a file of credentials, or is damaged",
                    path.display()
                )
            }
            CredentialFileError::Damaged {
                path,
                name: Some(name),
            } => write!(f, "`{name}` in `{}` is damaged", path.display()),
        }
    }
}

impl Error for CredentialFileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            CredentialFileError::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys() {
        let key = |text: &str| CredentialKey::from_hex(&text.into()).is_some();
        assert!(key(&"0aF9".repeat(16)));
        for text in [
            "",
            "0",
            &"0".repeat(63),
            &"0".repeat(66),
            &"0g".repeat(32),
            &"+1".repeat(32),
        ] {
            assert!(!key(text), "{text}");
        }
        let no_key = |name: &str| CredentialKey::from_variable(name).unwrap_err().to_string();
        assert_eq!(
            no_key("FLOW_LOADER_IS_NOT_SET"),
            "the variable `FLOW_LOADER_IS_NOT_SET` does not contain a key: it is not set"
        );
        assert_eq!(
            no_key("PATH"),
            "the variable `PATH` does not contain a key: it is not 64 hexadecimal digits"
        );
    }
}
