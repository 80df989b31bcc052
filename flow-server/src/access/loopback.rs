//! Requests of this machine, which need no token.

use std::net::{IpAddr, SocketAddr};

use async_trait::async_trait;
use axum::extract::ConnectInfo;
use axum::http::request::Parts;
use axum::http::{Method, header};

use super::principal::{Authenticate, Principal};
use crate::problem::Problem;

/// Authenticates requests of this machine as those of the operator.
///
/// A page on the web can make a browser on this machine send requests here. The request therefore
/// has to name this machine as its host, which a page that resolves its own name to this machine
/// does not. A page that sends it has to come from here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loopback;

#[async_trait]
impl Authenticate for Loopback {
    async fn authenticate(&self, request: &Parts) -> Option<Principal> {
        reason(request).is_none().then(Principal::operator)
    }

    fn refused(&self, request: &Parts) -> Problem {
        Problem::forbidden(reason(request).unwrap_or("only requests of this machine are let in"))
    }
}

/// Returns the reason why a request is refused.
fn reason(request: &Parts) -> Option<&'static str> {
    let Some(ConnectInfo(peer)) = request.extensions.get::<ConnectInfo<SocketAddr>>() else {
        return Some(
            "the server has no authentication and cannot see where requests come from: set \
             `Server::authentication`, or serve with `into_make_service_with_connect_info::<SocketAddr>()`",
        );
    };
    if !peer.ip().to_canonical().is_loopback() {
        return Some(
            "the server has no authentication, so only requests of its own machine are let in: set \
             `Server::authentication`",
        );
    }
    let header = |name| request.headers.get(name).map(|value| value.to_str());
    let host = match header(header::HOST) {
        Some(Ok(host)) => Some(host),
        Some(Err(_)) => None,
        None => request.uri.authority().map(|authority| authority.as_str()),
    };
    let Some(host) = host.filter(|host| is_this_machine(host)) else {
        return Some("the request names another host than `localhost`, `127.0.0.1` or `[::1]`");
    };
    let from_here = match header(header::ORIGIN) {
        None => true,
        Some(origin) => origin.is_ok_and(|origin| origin == format!("http://{host}")),
    };
    let foreign_page = header(header::HeaderName::from_static("sec-fetch-site"))
        .is_some_and(|site| !matches!(site, Ok("same-origin" | "none")));
    let is_page = request.method == Method::GET
        && header(header::HeaderName::from_static("sec-fetch-mode"))
            .is_some_and(|mode| matches!(mode, Ok("navigate")));
    if !from_here || (foreign_page && !is_page) {
        return Some("the request comes from a page of another site");
    }
    None
}

/// Returns `true` if the host of a request, with or without a port, is this machine.
fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || address.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_this_machine() {
        for host in [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1:7878",
            "[::1]:7878",
            "127.1.2.3",
        ] {
            assert!(is_this_machine(host), "{host}");
        }
        for host in [
            "",
            "example.org",
            "localhost.example.org",
            "10.0.0.1:80",
            "127.0.0.1.nip.io",
            "0.0.0.0",
        ] {
            assert!(!is_this_machine(host), "{host}");
        }
    }
}
