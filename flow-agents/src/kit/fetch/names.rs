//! The addresses of names. They are checked here, where a connection gets them: nobody can change
//! them in between.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::rules::{Refusal, Rules, plain};

/// Looks names up as the system does, and lets only those addresses pass that the rules allow.
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
