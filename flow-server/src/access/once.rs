//! The headers and links that a request may carry only once, since two would be ambiguous.

use axum::extract::Query;
use axum::http::request::Parts;

use super::bearer::bearer;
use crate::problem::Problem;

/// The headers that decide who sent a request and what it does.
const HEADERS: [&str; 8] = [
    "authorization",
    "content-type",
    "host",
    "idempotency-key",
    "last-event-id",
    "origin",
    "sec-fetch-mode",
    "sec-fetch-site",
];

/// The names of links in a query. The second one is the agent framework's.
const LINKS: [&str; 2] = ["link", "executionToken"];

/// Refuses a request that has one of these headers twice.
pub(super) fn headers(parts: &Parts) -> Result<(), Problem> {
    for name in HEADERS {
        if parts.headers.get_all(name).iter().nth(1).is_some() {
            return Err(Problem::bad_request(format!(
                "the header `{name}` is there more than once"
            )));
        }
    }
    Ok(())
}

/// Returns the link that a request carries in its query or in place of a token.
///
/// # Errors
///
/// The request has more than one link, or a link and a token.
pub(super) fn link(parts: &Parts) -> Result<Option<String>, Problem> {
    let pairs = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
    let pairs = pairs.map_or_else(|_| Vec::new(), |Query(pairs)| pairs);
    let mut links = pairs
        .into_iter()
        .filter(|(name, _)| LINKS.contains(&&**name));
    let Some((_, link)) = links.next() else {
        return Ok(bearer(parts).map(str::to_owned));
    };
    if links.next().is_some() {
        return Err(Problem::bad_request("the query has more than one link"));
    }
    if bearer(parts).is_some() {
        return Err(Problem::bad_request(
            "the request has a token in `Authorization` and a link in its query: send one of them",
        ));
    }
    Ok(Some(link))
}
