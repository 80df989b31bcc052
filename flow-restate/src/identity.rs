//! Checks that requests are signed by a known server.
//!
//! The header `x-restate-jwt-v1` has a JSON Web Token (RFC 7519) for the path of the request, valid
//! for a minute or two. Ed25519 (RFC 8037) is the only accepted algorithm: the token cannot choose
//! another.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signature, VerifyingKey};
use hyper::HeaderMap;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The prefix of a key.
pub(crate) const PREFIX: &str = "publickeyv1_";

const SCHEME: &str = "x-restate-signature-scheme";
const TOKEN: &str = "x-restate-jwt-v1";

/// The keys of the servers that may call. If it is empty, everybody may.
#[derive(Debug, Default)]
pub(crate) struct Keys(Vec<VerifyingKey>);

#[derive(Deserialize)]
struct Head {
    alg: String,
}

#[derive(Deserialize)]
struct Claims {
    /// The path of the request.
    aud: Audience,
    /// The times in seconds since 1970 at which the validity ends and begins.
    exp: u64,
    nbf: u64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

impl Audience {
    fn has(&self, path: &str) -> bool {
        match self {
            Audience::One(one) => one == path,
            Audience::Many(many) => many.iter().any(|one| one == path),
        }
    }
}

impl Keys {
    /// Adds a key.
    ///
    /// # Errors
    ///
    /// The reason why the text is not a key.
    pub(crate) fn add(&mut self, key: &str) -> Result<(), String> {
        let text = key
            .strip_prefix(PREFIX)
            .ok_or_else(|| format!("it does not begin with `{PREFIX}`"))?;
        let mut bytes = [0; 32];
        match bs58::decode(text).onto(&mut bytes) {
            Ok(32) => {}
            Ok(length) => return Err(format!("it has {length} bytes, and needs 32")),
            Err(bs58::decode::Error::BufferTooSmall) => {
                return Err("it has more than 32 bytes".to_owned());
            }
            Err(error) => return Err(format!("what follows `{PREFIX}` is not Base58: {error}")),
        }
        let key = VerifyingKey::from_bytes(&bytes)
            .ok()
            .filter(|key| !key.is_weak())
            .ok_or("its bytes are not a public key of Ed25519")?;
        self.0.push(key);
        Ok(())
    }

    /// Checks that one of the keys has signed a request.
    ///
    /// # Errors
    ///
    /// The reason why it counts as unsigned.
    pub(crate) fn check(
        &self,
        headers: &HeaderMap,
        path: &str,
        now: SystemTime,
    ) -> Result<(), &'static str> {
        if self.0.is_empty() {
            return Ok(());
        }
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
        match header(SCHEME) {
            Some("v1") => {}
            Some("unsigned") | None => {
                return Err(
                    "the request is not signed: give the server its private key by \
                            `request-identity-private-key-pem-file`",
                );
            }
            Some(_) => return Err("the request is signed in a way that is not known here"),
        }
        let token = header(TOKEN).ok_or("the request has no token")?;
        let claims = self.claims(token)?;
        if !claims.aud.has(path) {
            return Err("the token is for another path");
        }
        let now = now
            .duration_since(UNIX_EPOCH)
            .map_err(|_| "the clock of this machine is wrong")?
            .as_secs();
        if now >= claims.exp {
            return Err("the token is too old, or the clocks of the machines differ");
        }
        if now < claims.nbf {
            return Err("the token is not valid yet, or the clocks of the machines differ");
        }
        Ok(())
    }

    /// The claims of a token that one of the keys has signed.
    fn claims(&self, token: &str) -> Result<Claims, &'static str> {
        const NO_TOKEN: &str = "the token cannot be read";
        let (signed, signature) = token.rsplit_once('.').ok_or(NO_TOKEN)?;
        let (head, claims) = signed.split_once('.').ok_or(NO_TOKEN)?;
        let head: Head = part(head).ok_or(NO_TOKEN)?;
        if head.alg != "EdDSA" {
            return Err("the token is signed by another algorithm than Ed25519");
        }
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| NO_TOKEN)?;
        let signature = Signature::from_slice(&signature).map_err(|_| NO_TOKEN)?;
        let is_of = |key: &VerifyingKey| key.verify_strict(signed.as_bytes(), &signature).is_ok();
        if !self.0.iter().any(is_of) {
            return Err("no key of this endpoint has signed the token");
        }
        part(claims).ok_or(NO_TOKEN)
    }
}

/// A part of a token.
fn part<T: DeserializeOwned>(text: &str) -> Option<T> {
    let text = URL_SAFE_NO_PAD.decode(text).ok()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ed25519_dalek::{Signer as _, SigningKey};
    use hyper::header::HeaderValue;
    use serde_json::{Value, json};

    use super::*;

    const PATH: &str = "/invoke/Order/run";

    fn own() -> SigningKey {
        SigningKey::from_bytes(&[7; 32])
    }

    fn text_of(key: &SigningKey) -> String {
        let bytes = key.verifying_key().to_bytes();
        format!("{PREFIX}{}", bs58::encode(bytes).into_string())
    }

    fn now() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_000_000)
    }

    /// The claims of a server for a request at this moment.
    fn claims() -> Value {
        json!({ "aud": PATH, "nbf": 999_940, "iat": 1_000_000, "exp": 1_000_060 })
    }

    fn token(key: &SigningKey, head: &Value, claims: &Value) -> String {
        let text = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", text(head), text(claims));
        let signature = URL_SAFE_NO_PAD.encode(key.sign(signed.as_bytes()).to_bytes());
        format!("{signed}.{signature}")
    }

    fn signed(key: &SigningKey, claims: &Value) -> String {
        token(key, &json!({ "typ": "JWT", "alg": "EdDSA" }), claims)
    }

    fn check(scheme: &str, token: &str) -> Result<(), &'static str> {
        let mut keys = Keys::default();
        keys.add(&text_of(&SigningKey::from_bytes(&[8; 32])))
            .unwrap();
        keys.add(&text_of(&own())).unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(SCHEME, HeaderValue::from_str(scheme).unwrap());
        headers.insert(TOKEN, HeaderValue::from_str(token).unwrap());
        keys.check(&headers, PATH, now())
    }

    #[test]
    fn takes_a_request_that_a_key_has_signed() {
        assert_eq!(check("v1", &signed(&own(), &claims())), Ok(()));
        let mut several = claims();
        several["aud"] = json!(["/discover", PATH]);
        assert_eq!(check("v1", &signed(&own(), &several)), Ok(()));
    }

    #[test]
    fn refuses_a_request_that_no_key_has_signed() {
        let good = signed(&own(), &claims());
        let other = signed(&SigningKey::from_bytes(&[9; 32]), &claims());
        let (text, signature) = good.rsplit_once('.').unwrap();
        let (head, _) = text.split_once('.').unwrap();
        let changed =
            URL_SAFE_NO_PAD.encode(json!({ "aud": PATH, "nbf": 0, "exp": 2_000_000 }).to_string());
        let none = token(&own(), &json!({ "alg": "none" }), &claims());
        let unsigned = "the request is not signed";
        let unknown = "the request is signed in a way";
        let algorithm = "the token is signed by another algorithm";
        let key = "no key of this endpoint";
        let unreadable = "the token cannot be read";
        for (scheme, token, reason) in [
            ("unsigned", &*good, unsigned),
            ("v2", &good, unknown),
            ("v1", &other, key),
            ("v1", &format!("{head}.{changed}.{signature}"), key),
            ("v1", &none, algorithm),
            ("v1", &format!("{text}."), unreadable),
            ("v1", text, unreadable),
            ("v1", "", unreadable),
        ] {
            let refused = check(scheme, token).unwrap_err();
            assert!(refused.starts_with(reason), "{scheme} {token}: {refused}");
        }
        let mut keys = Keys::default();
        keys.add(&text_of(&own())).unwrap();
        let refused = keys.check(&HeaderMap::new(), PATH, now()).unwrap_err();
        assert!(refused.starts_with(unsigned), "{refused}");
    }

    #[test]
    fn refuses_a_token_for_another_path_or_time() {
        for (claim, value, reason) in [
            ("aud", json!("/discover"), "the token is for another path"),
            ("aud", json!([]), "the token is for another path"),
            ("exp", json!(1_000_000), "the token is too old"),
            ("nbf", json!(1_000_001), "the token is not valid yet"),
            ("exp", Value::Null, "the token cannot be read"),
        ] {
            let mut claims = claims();
            claims[claim] = value;
            let refused = check("v1", &signed(&own(), &claims)).unwrap_err();
            assert!(refused.starts_with(reason), "{claims}: {refused}");
        }
    }

    #[test]
    fn says_what_is_wrong_with_a_key() {
        for (key, reason) in [
            ("11111", "it does not begin with `publickeyv1_`"),
            ("publickeyv1_2g", "it has 1 bytes, and needs 32"),
            ("publickeyv1_0", "what follows `publickeyv1_` is not Base58"),
            (
                "publickeyv1_11111111111111111111111111111111",
                "its bytes are not a public key of Ed25519",
            ),
            (
                "publickeyv1_ChjENKeMvCtRnqG2mrBK1HmPKufgFUc98K8B3ononQvpChjENKeMvCtRnqG2mrBK1HmPKufgFUc98K8B3ononQvp",
                "it has more than 32 bytes",
            ),
        ] {
            let refused = Keys::default().add(key).unwrap_err();
            assert!(refused.starts_with(reason), "{key}: {refused}");
        }
    }

    #[test]
    fn takes_everything_without_a_key() {
        assert_eq!(
            Keys::default().check(&HeaderMap::new(), PATH, now()),
            Ok(())
        );
    }
}
