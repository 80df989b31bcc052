//! Bearer tokens.

use std::fmt;
use std::path::Path;

use async_trait::async_trait;
use axum::http::header;
use axum::http::request::Parts;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::principal::{Authenticate, Principal};

/// Authenticates requests by `Authorization: Bearer TOKEN`.
///
/// Keeps only hashes of the tokens and compares them in constant time. `Debug` shows no tokens.
///
/// # Examples
///
/// ```
/// use flow_server::BearerTokens;
///
/// # fn secret(_: &str) -> String { "a long secret".to_owned() }
/// let tokens = BearerTokens::new()
///     .operator(secret("OPERATOR_TOKEN"))
///     .owner("ann", secret("ANN_TOKEN"));
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct BearerTokens {
    tokens: Vec<([u8; 32], Principal)>,
}

impl fmt::Debug for BearerTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let principals = self.tokens.iter().map(|(_, principal)| principal);
        f.debug_list().entries(principals).finish()
    }
}

/// The reason why a file of tokens cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenFileError {
    /// The file cannot be read.
    #[error("the file of tokens cannot be read: {0}")]
    Read(#[from] std::io::Error),
    /// A line is neither empty, a comment, `operator TOKEN` nor `owner NAME TOKEN`.
    #[error("line {line} of the file of tokens is neither `operator TOKEN` nor `owner NAME TOKEN`")]
    Line {
        /// The number of the line, from 1.
        line: usize,
    },
    /// A token is too short to be safe from guessing.
    #[error("the token in line {line} has fewer than 16 characters, so it could be guessed")]
    Short {
        /// The number of the line, from 1.
        line: usize,
    },
}

impl BearerTokens {
    /// Creates a set without tokens, which refuses every request.
    pub fn new() -> Self {
        BearerTokens::default()
    }

    /// Adds a token of an operator, who runs the server.
    pub fn operator(self, token: impl AsRef<str>) -> Self {
        self.token(token.as_ref(), Principal::operator())
    }

    /// Adds a token of an owner. An owner can have several.
    pub fn owner(self, name: &str, token: impl AsRef<str>) -> Self {
        self.token(token.as_ref(), Principal::owner(name))
    }

    fn token(mut self, token: &str, principal: Principal) -> Self {
        self.tokens.push((hash(token), principal));
        self
    }

    /// Reads tokens from a file with lines `operator TOKEN` and `owner NAME TOKEN`. Empty lines and
    /// lines that begin with `#` are skipped.
    ///
    /// # Errors
    ///
    /// The file cannot be read, a line is none of these, or a token has fewer than 16 characters.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, TokenFileError> {
        let text = std::fs::read_to_string(path)?;
        let mut tokens = BearerTokens::new();
        for (index, content) in text.lines().enumerate() {
            let line = index + 1;
            let words: Vec<&str> = content.split_whitespace().collect();
            let (token, principal) = match words[..] {
                [] => continue,
                [first, ..] if first.starts_with('#') => continue,
                ["operator", token] => (token, Principal::operator()),
                ["owner", name, token] => (token, Principal::owner(name)),
                _ => return Err(TokenFileError::Line { line }),
            };
            if token.chars().count() < 16 {
                return Err(TokenFileError::Short { line });
            }
            tokens = tokens.token(token, principal);
        }
        Ok(tokens)
    }

    fn find(&self, token: &str) -> Option<&Principal> {
        let hash = hash(token);
        let mut found = None;
        // Compares all, so that the time reveals nothing.
        for (known, principal) in &self.tokens {
            if bool::from(known.ct_eq(&hash)) {
                found = Some(principal);
            }
        }
        found
    }
}

#[async_trait]
impl Authenticate for BearerTokens {
    async fn authenticate(&self, request: &Parts) -> Option<Principal> {
        self.find(bearer(request)?).cloned()
    }
}

/// Returns the token of a request, or `None` if several headers carry tokens.
pub(crate) fn bearer(request: &Parts) -> Option<&str> {
    let mut values = request.headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next().filter(|_| values.next().is_none())?;
    let value = value.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| token.trim())
        .filter(|token| !token.is_empty())
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}
