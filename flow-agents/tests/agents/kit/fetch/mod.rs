//! The tool that fetches: from servers of the tests, and from nowhere else.

mod addresses;
mod answers;
mod giants;
mod pages;
mod redirects;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use flow_agents::kit::Fetch;
use flow_agents::tools;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::call;

/// The name of the servers of the tests, which may be at a loopback address.
const HOST: &str = "pages.test";
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A server, with how often somebody connected to it, and what was sent.
struct Server {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
}

/// What a server does with a connection after the head of its answer.
#[derive(Clone)]
enum Body {
    /// Sends this, and closes the connection.
    Whole(Vec<u8>),
    /// Sends this again and again, as long as somebody reads it.
    Endless(Vec<u8>),
    /// Sends this, and leaves the connection open.
    Hanging(Vec<u8>),
}

impl Server {
    /// Answers each path with the head and the body that a function returns.
    async fn start(answer: impl Fn(&str) -> (String, Body) + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (connections, requests) = (Arc::new(AtomicUsize::new(0)), Arc::default());
        let (counted, noted, answer) = (
            Arc::clone(&connections),
            Arc::clone(&requests),
            Arc::new(answer),
        );
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let (noted, answer) = (Arc::clone(&noted), Arc::clone(&answer));
                tokio::spawn(async move { serve(stream, &noted, &*answer).await });
            }
        });
        Server {
            address,
            connections,
            requests,
        }
    }

    /// A server that nobody may connect to.
    async fn canary() -> Server {
        Server::start(|_| text("text/plain", "the canary sings")).await
    }

    #[track_caller]
    fn assert_silent(&self) {
        assert_eq!(
            self.connections.load(Ordering::SeqCst),
            0,
            "somebody connected"
        );
    }

    /// A URL of it by the name of the servers of the tests.
    fn url(&self, path: &str) -> String {
        format!("http://{HOST}:{}{path}", self.address.port())
    }
}

async fn serve(
    mut stream: TcpStream,
    noted: &Mutex<Vec<String>>,
    answer: &(dyn Fn(&str) -> (String, Body) + Send + Sync),
) {
    let mut request = Vec::new();
    let mut buffer = [0; 4_096];
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(read) => request.extend_from_slice(&buffer[..read]),
        }
    }
    let request = String::from_utf8(request).unwrap();
    let path = request.split(' ').nth(1).unwrap().to_owned();
    noted.lock().unwrap().push(request);
    let (head, body) = answer(&path);
    let sent = async {
        stream.write_all(head.as_bytes()).await?;
        match body {
            Body::Whole(bytes) => stream.write_all(&bytes).await,
            Body::Endless(bytes) => loop {
                stream.write_all(&bytes).await?;
            },
            Body::Hanging(bytes) => {
                stream.write_all(&bytes).await?;
                std::future::pending().await
            }
        }
    };
    let _ = sent.await; // who asked may have gone
}

/// An answer of this type.
fn text(kind: &str, body: &str) -> (String, Body) {
    answer("200 OK", &format!("content-type: {kind}\r\n"), body)
}

/// An answer with this status and these headers.
fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> (String, Body) {
    let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\n{headers}\r\n");
    (head, Body::Whole(body.as_ref().to_vec()))
}

/// A tool that knows the servers of the tests by their name.
fn fetch() -> Fetch {
    Fetch::new()
        .resolve(HOST, [LOOPBACK])
        .allow_private([HOST])
        .unwrap()
}

async fn fetched(fetch: &Fetch, url: &str) -> Result<String, String> {
    called(fetch, json!({ "url": url })).await
}

async fn called(fetch: &Fetch, arguments: Value) -> Result<String, String> {
    call(&tools![Fetch = fetch.clone()], "fetch", arguments).await
}
