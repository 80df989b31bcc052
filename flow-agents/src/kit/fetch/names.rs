//! Resolves names. The addresses are checked where a connection gets them, so they cannot change in
//! between.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::rules::{Refusal, Rules, plain};

/// Looks up names as the system does, and returns only addresses that the rules allow.
pub(super) struct Checked {
    pub(super) rules: Arc<Rules>,
}

impl Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let rules = Arc::clone(&self.rules);
        Box::pin(async move {
            let host = plain(name.as_str());
            let addresses: Vec<IpAddr> = match rules.known.get(&host) {
                Some(known) => known.clone(),
                None => {
                    let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
                    found.map(|address| address.ip()).collect()
                }
            };
            if addresses.is_empty() {
                return Err(Refusal(format!("{host} has no address")).into());
            }
            rules.check_addresses(&host, &addresses)?;
            // The port is that of the URL.
            let addresses = addresses
                .into_iter()
                .map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(addresses) as Addrs)
        })
    }
}
