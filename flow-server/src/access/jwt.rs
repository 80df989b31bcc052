//! JSON Web Tokens.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use axum::http::request::Parts;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::bearer::bearer;
use super::principal::{Authenticate, Principal};

/// Authenticates requests by `Authorization: Bearer` with a JSON Web Token that an identity
/// provider signed.
///
/// The subject (`sub`) is the owner. A token needs an `exp` and is refused from that time on. A
/// token with an `nbf` is refused before that time. Both are compared with the clock of this
/// machine; [`leeway`](Self::leeway) allows for clocks that differ.
///
/// A token is also refused if its `iss` is not a string, if it has a key twice, or if its header
/// has `crit` or `b64`, which may change its meaning.
///
/// # Examples
///
/// ```
/// use flow_server::JsonWebTokens;
///
/// # fn secret() -> [u8; 32] { [7; 32] }
/// let tokens = JsonWebTokens::hs256(&secret())?
///     .audience("flows")
///     .issuer("https://login.example.org")
///     .operator_if("role", "operator");
/// # Ok::<(), flow_server::InvalidKey>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct JsonWebTokens {
    key: DecodingKey,
    validation: Validation,
    operator: Option<(String, Value)>,
    leeway: Duration,
}

impl fmt::Debug for JsonWebTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonWebTokens")
            .field("algorithms", &self.validation.algorithms)
            .field("audience", &self.validation.aud)
            .field("issuer", &self.validation.iss)
            .field("operator", &self.operator)
            .field("leeway", &self.leeway)
            .finish_non_exhaustive()
    }
}

/// A key that tokens cannot be checked with.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidKey(String);

impl InvalidKey {
    fn not_in_pem(error: jsonwebtoken::errors::Error) -> Self {
        InvalidKey(format!(
            "this is not a public key of this kind in PEM: {error}"
        ))
    }
}

/// The minimum length in bytes of a secret for HS256 (RFC 7518, section 3.2).
const SHORTEST_SECRET: usize = 32;

impl JsonWebTokens {
    /// Accepts tokens signed with a shared secret (HS256).
    ///
    /// # Errors
    ///
    /// The secret has fewer than 32 bytes, the minimum of RFC 7518, section 3.2. Others can guess a
    /// short secret, and everyone knows an empty one, such as that of a variable that is not set.
    pub fn hs256(secret: &[u8]) -> Result<Self, InvalidKey> {
        if secret.len() < SHORTEST_SECRET {
            return Err(InvalidKey(format!(
                "the secret has {} bytes, and HS256 needs at least {SHORTEST_SECRET}",
                secret.len()
            )));
        }
        let key = DecodingKey::from_secret(secret);
        Ok(JsonWebTokens::new(Algorithm::HS256, key))
    }

    /// Accepts tokens signed with the private RSA key of this public key (RS256).
    ///
    /// # Errors
    ///
    /// The key is not an RSA key in PEM.
    pub fn rs256(public_key: &[u8]) -> Result<Self, InvalidKey> {
        let key = DecodingKey::from_rsa_pem(public_key);
        let key = key.map_err(InvalidKey::not_in_pem)?;
        Ok(JsonWebTokens::new(Algorithm::RS256, key))
    }

    /// Accepts tokens signed with the private key of this public key on the curve P-256 (ES256).
    ///
    /// # Errors
    ///
    /// The key is not such a key in PEM.
    pub fn es256(public_key: &[u8]) -> Result<Self, InvalidKey> {
        let key = DecodingKey::from_ec_pem(public_key);
        let key = key.map_err(InvalidKey::not_in_pem)?;
        Ok(JsonWebTokens::new(Algorithm::ES256, key))
    }

    fn new(algorithm: Algorithm, key: DecodingKey) -> Self {
        let mut validation = Validation::new(algorithm);
        validation.set_required_spec_claims(&["sub"]);
        // Times are compared below, to fractions of a second and without the library's leeway.
        validation.validate_exp = false;
        // Without `audience`, only tokens that name no audience are accepted.
        validation.validate_aud = true;
        JsonWebTokens {
            key,
            validation,
            operator: None,
            leeway: Duration::ZERO,
        }
    }

    /// Sets how long a token is accepted after its `exp` and before its `nbf`. Zero by default.
    pub fn leeway(mut self, leeway: Duration) -> Self {
        self.leeway = leeway;
        self
    }

    /// Accepts only tokens for this audience (`aud`). By default, tokens with one are refused.
    pub fn audience(mut self, audience: &str) -> Self {
        self.validation.set_audience(&[audience]);
        self.validation
            .required_spec_claims
            .insert("aud".to_owned());
        self
    }

    /// Accepts only tokens of this issuer (`iss`).
    pub fn issuer(mut self, issuer: &str) -> Self {
        self.validation.set_issuer(&[issuer]);
        self.validation
            .required_spec_claims
            .insert("iss".to_owned());
        self
    }

    /// Treats a token as an operator's if this claim is `value`, or a list that contains it.
    pub fn operator_if(mut self, claim: &str, value: impl Into<Value>) -> Self {
        self.operator = Some((claim.to_owned(), value.into()));
        self
    }

    fn principal(&self, token: &str) -> Option<Principal> {
        let claims = self.claims(token)?;
        let is_operator =
            self.operator
                .as_ref()
                .is_some_and(|(claim, value)| match claims.get(claim) {
                    Some(Value::Array(values)) => values.contains(value),
                    found => found == Some(value),
                });
        if is_operator {
            return Some(Principal::operator());
        }
        let subject = claims.get("sub")?.as_str()?;
        (!subject.is_empty()).then(|| Principal::owner(subject))
    }

    /// Returns the claims of a token, if it is valid.
    fn claims(&self, token: &str) -> Option<Map<String, Value>> {
        decode::<IgnoredAny>(token, &self.key, &self.validation).ok()?;
        let mut parts = token.split('.');
        let header = part(parts.next()?)?;
        let claims = part(parts.next()?)?;
        // Both change what is signed or how it is read, and are not supported.
        if header.contains_key("crit") || header.contains_key("b64") {
            return None;
        }
        if claims.get("iss").is_some_and(|issuer| !issuer.is_string()) {
            return None;
        }
        if claims.get("iat").is_some_and(|issued| !issued.is_number()) {
            return None;
        }
        // Without `audience`, a token with an audience is for somebody else.
        if self.validation.aud.is_none() && claims.contains_key("aud") {
            return None;
        }
        self.holds_now(&claims).then_some(claims)
    }

    fn holds_now(&self, claims: &Map<String, Value>) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.unwrap_or_default().as_secs_f64();
        let leeway = self.leeway.as_secs_f64();
        let expires = claims.get("exp").and_then(Value::as_f64);
        let begins = match claims.get("nbf") {
            None => true,
            Some(begins) => begins.as_f64().is_some_and(|nbf| nbf <= now + leeway),
        };
        begins && expires.is_some_and(|exp| now - leeway < exp)
    }
}

/// Decodes the JSON of a part of a token.
fn part(part: &str) -> Option<Map<String, Value>> {
    let text = URL_SAFE_NO_PAD.decode(part).ok()?;
    crate::json::read(&text).ok()
}

#[async_trait]
impl Authenticate for JsonWebTokens {
    async fn authenticate(&self, request: &Parts) -> Option<Principal> {
        self.principal(bearer(request)?)
    }
}
