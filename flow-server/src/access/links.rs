//! Signed links.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use flow_durable::{ExecutionId, OpenQuestion};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use uuid::Uuid;

use super::principal::{Principal, Who};

/// Signs links that give access to one execution, or one question, for a limited time.
///
/// The signature is an HMAC with SHA-256. A request carries a link as `?link=…`, or as
/// `Authorization: Bearer …`. A link to an execution also allows answering its questions and those
/// of the parts of its loops. A link to a question shows only that question: neither the values of
/// the execution nor its other questions.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use flow_durable::{ExecutionId, MemoryStore, Runtime};
/// use flow_server::{Links, Server};
///
/// # fn key() -> [u8; 32] { [7; 32] }
/// # fn send(_: String) {}
/// # fn example(execution: ExecutionId) {
/// let links = Links::new(key());
/// let server = Server::new(Runtime::new(MemoryStore::new())).links(links.clone());
/// send(links.execution(execution, Duration::from_secs(3600)));
/// # let _ = server; }
/// ```
#[derive(Clone)]
pub struct Links {
    key: [u8; 32],
}

impl fmt::Debug for Links {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Links(…)")
    }
}

/// The content of a link.
#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    /// The id of the execution.
    e: String,
    /// The step whose question the link is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<String>,
    /// The expiry, in seconds since 1970 (UTC).
    u: u64,
}

impl Links {
    /// Signs links with this key. Servers that share a key accept each other's links.
    pub fn new(key: [u8; 32]) -> Self {
        Links { key }
    }

    /// Signs links with a random key. They are valid until the process ends.
    pub fn random() -> Self {
        let mut key = [0; 32];
        let (first, second) = key.split_at_mut(16);
        first.copy_from_slice(Uuid::new_v4().as_bytes());
        second.copy_from_slice(Uuid::new_v4().as_bytes());
        Links { key }
    }

    /// Returns a link to an execution that is valid for this long.
    pub fn execution(&self, execution: ExecutionId, holds: Duration) -> String {
        self.sign(execution, None, holds)
    }

    /// Returns a link to a question that is valid for this long. If its node is visited again and
    /// asks again, that is another question.
    pub fn question(&self, question: &OpenQuestion, holds: Duration) -> String {
        self.sign(
            question.execution(),
            Some(question.step().to_owned()),
            holds,
        )
    }

    fn sign(&self, execution: ExecutionId, step: Option<String>, holds: Duration) -> String {
        let claims = Claims {
            e: execution.to_string(),
            s: step,
            u: now().saturating_add(holds.as_secs()),
        };
        let claims = serde_json::json!(claims).to_string();
        let signature = self.mac(claims.as_bytes()).finalize().into_bytes();
        format!(
            "{}.{}",
            URL_SAFE_NO_PAD.encode(claims),
            URL_SAFE_NO_PAD.encode(signature)
        )
    }

    /// Returns the principal of a link, or `None` if the link has expired or was not signed with
    /// the key.
    pub(crate) fn principal(&self, link: &str) -> Option<Principal> {
        let (claims, signature) = link.split_once('.')?;
        let claims = URL_SAFE_NO_PAD.decode(claims).ok()?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        self.mac(&claims).verify_slice(&signature).ok()?;
        let claims: Claims = serde_json::from_slice(&claims).ok()?;
        let execution = claims.e.parse().ok()?;
        (now() < claims.u).then_some(Principal(Who::Link {
            execution,
            step: claims.s,
        }))
    }

    fn mac(&self, claims: &[u8]) -> Hmac<Sha256> {
        let mac = Hmac::<Sha256>::new_from_slice(&self.key);
        let mut mac = mac.unwrap_or_else(|_| unreachable!("HMAC takes keys of any length"));
        mac.update(claims);
        mac
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
