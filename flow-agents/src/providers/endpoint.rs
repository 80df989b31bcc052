//! The base address of a provider.
//!
//! Errors must not show secrets in an address, even if the text is not a valid address.

use reqwest::Url;

use super::error::GenAiError;
use super::provider::Provider;

/// Parses a base address.
///
/// # Errors
/// [`GenAiError::Endpoint`] if paths of requests cannot follow the text.
pub(super) fn parse(text: &str) -> Result<Url, GenAiError> {
    let refuse = |why| {
        let url = without_secrets(text);
        Err(GenAiError::Endpoint { url, why })
    };
    let parsed = Url::parse(text).ok();
    let Some(mut url) = parsed.filter(|it| matches!(it.scheme(), "http" | "https")) else {
        return refuse("it is not an address that begins with `http://` or `https://`");
    };
    if !url.username().is_empty() || url.password().is_some() {
        return refuse("it has a user name or a password, and only `key` can be a secret");
    }
    if url.query().is_some() {
        return refuse("it has a query, and the names of calls are put behind the address");
    }
    if url.fragment().is_some() {
        return refuse("it has a fragment, and the names of calls are put behind the address");
    }
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url)
}

/// Returns `true` if the address has the scheme, host and port of the provider's own server.
pub(super) fn is_own(provider: &Provider, url: &Url) -> bool {
    Url::parse(provider.endpoint).is_ok_and(|own| own.origin() == url.origin())
}

fn without_secrets(text: &str) -> String {
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) if !scheme.contains('@') => (format!("{scheme}://"), rest),
        _ => (String::new(), text),
    };
    let (user, rest) = match rest.rsplit_once('@') {
        Some((_, rest)) => ("…@", rest),
        None => ("", rest),
    };
    let end = rest.find(['?', '#']).map(|at| at + 1);
    let (rest, behind) = match end {
        Some(end) if end < rest.len() => (&rest[..end], "…"),
        _ => (rest, ""),
    };
    format!("{scheme}{user}{rest}{behind}")
}
