//! Rules for the addresses that may be fetched.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

use reqwest::Url;
use url::Host;

use super::super::text::shortened;
use super::address::special;

/// The maximum number of bytes of an address.
const LONGEST: usize = 8_192;

/// The rules for hosts and addresses.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules {
    /// The allowed hosts. `None` allows all.
    pub(super) only: Option<Vec<String>>,
    /// Hosts that may have addresses that are not public.
    pub(super) private: Vec<String>,
    /// The addresses of names that are not looked up.
    pub(super) known: BTreeMap<String, Vec<IpAddr>>,
    /// An invalid name passed to `resolve`: nothing is fetched.
    pub(super) unknown: Option<(String, Refusal)>,
}

/// The reason why an address is not fetched.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub(super) struct Refusal(pub(super) String);

impl Refusal {
    fn new(reason: impl Into<String>) -> Refusal {
        Refusal(reason.into())
    }
}

impl Rules {
    /// Reads an address written by a model.
    pub(super) fn read(&self, url: &str) -> Result<Url, Refusal> {
        if url.len() > LONGEST {
            return Err(Refusal::new("it is longer than 8,192 bytes"));
        }
        let url = Url::parse(url).map_err(|error| Refusal::new(error.to_string()))?;
        self.check(&url)?;
        Ok(url)
    }

    /// Checks an address, or the target of a redirect.
    pub(super) fn check(&self, url: &Url) -> Result<(), Refusal> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refusal::new("only http and https are fetched"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::new("it has a user name or a password in it"));
        }
        let Some(host) = url.host() else {
            return Err(Refusal::new("it has no host"));
        };
        let name = match &host {
            Host::Domain(name) => plain(name),
            Host::Ipv4(address) => address.to_string(),
            Host::Ipv6(address) => address.to_string(),
        };
        if let Some(only) = &self.only
            && !is_among(only, &name)
        {
            let reason = format!(
                "{} is not among the hosts that are allowed",
                shortened(&name, 100)
            );
            return Err(Refusal::new(reason));
        }
        match host {
            Host::Domain(_) if is_local(&name) && !self.may_be_private(&name) => Err(Refusal::new(
                format!("{} is this machine", shortened(&name, 100)),
            )),
            Host::Domain(_) => Ok(()), // its addresses are checked when they are looked up
            Host::Ipv4(address) => self.check_addresses(&name, &[address.into()]),
            Host::Ipv6(address) => self.check_addresses(&name, &[address.into()]),
        }
    }

    /// Checks the addresses of a host.
    pub(super) fn check_addresses(&self, host: &str, addresses: &[IpAddr]) -> Result<(), Refusal> {
        if self.may_be_private(host) {
            return Ok(());
        }
        // A name with both private and public addresses is refused as well.
        let found = addresses
            .iter()
            .find_map(|address| Some((address, special(*address)?)));
        let Some((address, what)) = found else {
            return Ok(());
        };
        let reason = match address.to_string() {
            text if text == host => format!("{text} is {what}"),
            text => format!("{} is at {text}, {what}", shortened(host, 100)),
        };
        Err(Refusal::new(reason))
    }

    fn may_be_private(&self, host: &str) -> bool {
        is_among(&self.private, host)
    }
}

fn is_local(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}

/// Normalizes a host for comparison: lowercase, without the brackets of an IPv6 address and the
/// trailing dot of a name.
pub(super) fn plain(host: &str) -> String {
    let host = host.trim_matches(['[', ']']);
    host.strip_suffix('.').unwrap_or(host).to_lowercase()
}

/// Parses and normalizes a host as people write it, such as `münchen.de` or `*.example.org`.
pub(super) fn read_host(text: &str) -> Result<String, Refusal> {
    let (before, name) = match text.strip_prefix("*.") {
        Some(name) => ("*.", name),
        None => ("", text),
    };
    let within = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'));
    if let Ok(address) = within.unwrap_or(name).parse::<Ipv6Addr>()
        && before.is_empty()
    {
        return Ok(address.to_string()); // without the brackets of a URL
    }
    let host = Host::parse(name).map_err(|error| Refusal::new(error.to_string()))?;
    match host {
        Host::Domain(name) if name.contains('*') => Err(Refusal::new(
            "`*` stands only at the beginning, before a `.`",
        )),
        Host::Domain(name) => Ok(format!("{before}{}", plain(&name))),
        _ if !before.is_empty() => Err(Refusal::new("there are no hosts below an IP address")),
        Host::Ipv4(address) => Ok(address.to_string()),
        Host::Ipv6(address) => Ok(address.to_string()),
    }
}

/// Parses a name to look up, as [`read_host`] does.
pub(super) fn read_name(text: &str) -> Result<String, Refusal> {
    let host = read_host(text)?;
    if host.starts_with('*') {
        return Err(Refusal::new("it stands for many names"));
    }
    if host.parse::<IpAddr>().is_ok() {
        return Err(Refusal::new("it is an IP address, which is not looked up"));
    }
    Ok(host)
}

/// Returns true if a list has a host. `*.example.org` matches all names below `example.org`.
fn is_among(list: &[String], host: &str) -> bool {
    list.iter().any(|entry| match entry.strip_prefix('*') {
        Some(end) => end.starts_with('.') && host.len() > end.len() && host.ends_with(end),
        None => entry == host,
    })
}
