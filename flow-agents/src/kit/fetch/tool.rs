//! The tool that fetches a page.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use flow_runtime::prelude::*;
use reqwest::header::{ACCEPT, HeaderValue, LOCATION};
use reqwest::{Client, Response, Url, redirect};

use super::answer::{Limits, read, said};
use super::error::{FetchError, beginning};
use super::names::Checked;
use super::rules::{Rules, read_host, read_name};

/// The maximum number of redirects.
const MOST_REDIRECTS: usize = 5;

/// A tool that fetches text from the web, from public addresses only.
///
/// Loopback, private, link-local, shared and other special addresses are refused, including IPv4
/// addresses within IPv6 ones. The addresses of a name are checked where the connection gets them,
/// so a name cannot change its address meanwhile. Each redirect is checked like an address written
/// by the model. Schemes other than `http` and `https` are refused too, as are user names and
/// passwords in URLs. It does not use proxies of the environment, sends only the request, and keeps
/// no cookies.
///
/// It reads text: HTML, of which it returns the text, JSON, XML and all types of `text`. Compressed
/// answers are not requested, and are refused.
///
/// A page is written by others, and a model may take it for instructions. A URL can leak what the
/// model knows: [`only_hosts`](Fetch::only_hosts) limits the hosts.
///
/// # Examples
/// ```
/// use flow_agents::kit::Fetch;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), flow_agents::kit::FetchError> {
/// let fetch = Fetch::new().only_hosts(["docs.rs", "*.rust-lang.org"])?;
/// let refused = fetch.exec("http://169.254.169.254/latest/meta-data/".into(), None).await;
/// assert!(refused.unwrap_err().to_string().contains("is not among the hosts that are allowed"));
///
/// let refused = Fetch::new().exec("http://169.254.169.254/latest/meta-data/".into(), None).await;
/// assert!(refused.unwrap_err().to_string().contains("169.254.169.254 is a link-local address"));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Fetch {
    rules: Arc<Rules>,
    limits: Limits,
    time: Duration,
    /// Created at the first call, since that can fail, and shared by all clones.
    client: Arc<OnceLock<Client>>,
}

impl Fetch {
    /// Fetches from all public addresses.
    pub fn new() -> Fetch {
        Fetch {
            rules: Arc::default(),
            limits: Limits {
                bytes: 2 << 20,
                characters: 20_000,
            },
            time: Duration::from_secs(30),
            client: Arc::default(),
        }
    }

    /// Allows only these hosts, such as `docs.rs`. `*.rust-lang.org` is each host below
    /// `rust-lang.org`.
    ///
    /// # Errors
    /// [`FetchError::Host`] if one of them is not a host but, for example, a whole URL.
    pub fn only_hosts(
        self,
        hosts: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Fetch, FetchError> {
        let hosts = read_all(hosts)?;
        Ok(self.with(|rules| rules.only = Some(hosts)))
    }

    /// Lets these hosts have addresses that are not public, such as a server on the local network.
    /// They are names or IP addresses.
    ///
    /// # Errors
    /// [`FetchError::Host`] if one of them is not a host but, for example, a whole URL.
    pub fn allow_private(
        self,
        hosts: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Fetch, FetchError> {
        let hosts = read_all(hosts)?;
        Ok(self.with(|rules| rules.private.extend(hosts)))
    }

    /// Uses these addresses for a name such as `docs.rs` or `münchen.de`, instead of those of DNS.
    /// They are checked all the same.
    ///
    /// If it is not a name but, for example, a URL or an IP address, each call returns
    /// [`FetchError::Host`].
    pub fn resolve(self, name: &str, addresses: impl IntoIterator<Item = IpAddr>) -> Fetch {
        let addresses = addresses.into_iter().collect();
        self.with(|rules| match read_name(name) {
            Ok(name) => drop(rules.known.insert(name, addresses)),
            Err(refusal) => rules.unknown = Some((name.to_owned(), refusal)),
        })
    }

    /// Sets the maximum number of bytes of an answer that are read. The default is 2 MiB.
    pub fn max_bytes(mut self, bytes: usize) -> Fetch {
        self.limits.bytes = bytes;
        self
    }

    /// Sets the maximum number of characters of text that the tool returns, without its notes. The
    /// default is 20,000.
    pub fn max_result_characters(mut self, characters: usize) -> Fetch {
        self.limits.characters = characters;
        self
    }

    /// Sets the time limit of a call, with all redirects. The default is 30 seconds.
    pub fn max_time(mut self, time: Duration) -> Fetch {
        self.time = time;
        self
    }

    fn with(mut self, change: impl FnOnce(&mut Rules)) -> Fetch {
        change(Arc::make_mut(&mut self.rules));
        self.client = Arc::default(); // the old one knows the old rules
        self
    }

    fn client(&self) -> Result<&Client, reqwest::Error> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = Client::builder()
            .user_agent(concat!("flow-agents/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .no_proxy()
            .referer(false)
            // Another crate may have enabled them.
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .dns_resolver(Checked {
                rules: Arc::clone(&self.rules),
            })
            .build()?;
        Ok(self.client.get_or_init(|| client))
    }

    /// The successful answer after all redirects.
    async fn answer(&self, url: &str) -> Result<Response, FetchError> {
        if let Some((name, refusal)) = &self.rules.unknown {
            return Err(FetchError::host(name, refusal.clone()));
        }
        let mut url = self
            .rules
            .read(url)
            .map_err(|refusal| FetchError::refused(url, refusal))?;
        let client = self
            .client()
            .map_err(|error| FetchError::of(url.as_str(), error))?;
        let mut redirects = 0;
        loop {
            let accept =
                HeaderValue::from_static("text/*, application/json, application/xml, */*;q=0.1");
            let request = client.get(url.clone()).header(ACCEPT, accept);
            let answer = request
                .send()
                .await
                .map_err(|error| FetchError::of(url.as_str(), error))?;
            match answer.status().as_u16() {
                301 | 302 | 303 | 307 | 308 if redirects == MOST_REDIRECTS => {
                    let problem = format!("once more, after {MOST_REDIRECTS} redirects");
                    return Err(FetchError::Redirect {
                        url: beginning(url.as_str()),
                        problem,
                    });
                }
                301 | 302 | 303 | 307 | 308 => {
                    url = self.redirected(&url, &answer)?;
                    redirects += 1;
                }
                _ if answer.status().is_success() => return Ok(answer),
                _ => {
                    let status = answer.status().to_string();
                    let said = said(answer).await;
                    return Err(FetchError::Status {
                        url: beginning(url.as_str()),
                        status,
                        said,
                    });
                }
            }
        }
    }

    /// The target of a redirect, checked like an address written by a model.
    fn redirected(&self, url: &Url, answer: &Response) -> Result<Url, FetchError> {
        let failed = |problem: &str| FetchError::Redirect {
            url: beginning(url.as_str()),
            problem: problem.to_owned(),
        };
        let mut places = answer.headers().get_all(LOCATION).iter();
        let place = places.next().ok_or_else(|| failed("to nowhere"))?;
        if places.next().is_some() {
            return Err(failed("to two places"));
        }
        let place = place.to_str().map_err(|_| failed("to what is not a URL"))?;
        let next = url
            .join(place)
            .map_err(|_| failed("to what is not a URL"))?;
        self.rules
            .read(next.as_str())
            .map_err(|refusal| FetchError::refused(next.as_str(), refusal))
    }
}

fn read_all(hosts: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Vec<String>, FetchError> {
    let read = |host: &str| read_host(host).map_err(|refusal| FetchError::host(host, refusal));
    hosts.into_iter().map(|host| read(host.as_ref())).collect()
}

impl Default for Fetch {
    fn default() -> Fetch {
        Fetch::new()
    }
}

/// Fetches a page from the web and returns its text: HTML without its tags and with its links as
/// `[text](URL)`, JSON, XML and plain text as they are. If the text is cut, the last lines begin
/// with `…` and say how much remains and how to read it.
#[node]
impl Fetch {
    /// Fetches a page.
    ///
    /// # Errors
    /// See [`FetchError`].
    ///
    /// # Panics
    /// If it is called outside tokio.
    ///
    /// # Cancel safety
    /// The request is aborted, and its answer is lost.
    pub async fn exec(
        &self,
        /// The URL, which begins with `https://` or `http://`.
        url: String,
        /// The number of characters to skip at the beginning of the text. The default is 0.
        offset: Option<u32>,
    ) -> Result<String, FetchError> {
        let fetched = async {
            let answer = self.answer(&url).await?;
            read(answer, &url, self.limits, offset.unwrap_or(0)).await
        };
        match tokio::time::timeout(self.time, fetched).await {
            Ok(result) => result,
            Err(_) => Err(FetchError::TimedOut {
                url: beginning(&url),
                after: self.time,
            }),
        }
    }
}
