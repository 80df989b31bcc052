//! A way to the server on which messages are lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use flow_services::Postgres;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// A way to the server that can lose a message, with its connection.
#[derive(Clone)]
pub(crate) struct Proxy {
    port: u16,
    loses: Arc<Loses>,
}

#[derive(Default)]
struct Loses {
    next_answer: AtomicBool,
    next_commit: AtomicBool,
    answer_to_next_commit: AtomicBool,
    swallows_next_answer: AtomicBool,
    /// Whether an end of a connection is kept from the other side.
    keeps_ends: watch::Sender<bool>,
    count: AtomicUsize,
}

impl Loses {
    fn answer(&self, bytes: &[u8]) -> bool {
        self.next_answer.swap(false, Ordering::SeqCst)
            || contains(bytes, b"COMMIT\0")
                && self.answer_to_next_commit.swap(false, Ordering::SeqCst)
    }

    fn swallows(&self, is_answer: bool) -> bool {
        is_answer && self.swallows_next_answer.swap(false, Ordering::SeqCst)
    }

    fn question(&self, bytes: &[u8]) -> bool {
        contains(bytes, b"COMMIT\0") && self.next_commit.swap(false, Ordering::SeqCst)
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Hands on what comes, until the connection ends or a message is to be lost.
async fn hand_on(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    loses: Arc<Loses>,
    is_answer: bool,
) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        let is_lost = if is_answer {
            Loses::answer
        } else {
            Loses::question
        };
        if is_lost(&loses, &bytes[..count]) {
            loses.count.fetch_add(1, Ordering::SeqCst);
            break;
        }
        if loses.swallows(is_answer) {
            loses.count.fetch_add(1, Ordering::SeqCst);
            // Nothing comes any more, and nothing is closed.
            std::future::pending::<()>().await;
        }
        if to.write_all(&bytes[..count]).await.is_err() {
            break;
        }
    }
    // The server learns of it in any case.
    let to = is_answer.then_some(to);
    let mut keeps = loses.keeps_ends.subscribe();
    // The sender is in what `loses` points to.
    let _ = keeps.wait_for(|keeps| !keeps).await;
    drop(to);
}

impl Proxy {
    /// Tells the store of no end of a connection, until it is to.
    pub(crate) fn keep_ends(&self, keeps: bool) {
        self.loses.keeps_ends.send_replace(keeps);
    }

    pub(crate) async fn before(server: &Postgres) -> Proxy {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let loses = Arc::<Loses>::default();
        let to = server.port();
        let proxy = Proxy {
            port,
            loses: loses.clone(),
        };
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.into_split();
                let loses = loses.clone();
                tokio::spawn(async move {
                    // When one way ends, both are closed.
                    tokio::select! {
                        () = hand_on(from_client, to_server, loses.clone(), false) => {}
                        () = hand_on(from_server, to_client, loses, true) => {}
                    }
                });
            }
        });
        proxy
    }

    pub(crate) fn lose_the_next_answer(&self) {
        self.loses.next_answer.store(true, Ordering::SeqCst);
    }

    /// The connection stays as if it were whole.
    pub(crate) fn swallow_the_next_answer(&self) {
        self.loses
            .swallows_next_answer
            .store(true, Ordering::SeqCst);
    }

    /// On its way to the server.
    pub(crate) fn lose_the_next_commit(&self) {
        self.loses.next_commit.store(true, Ordering::SeqCst);
    }

    pub(crate) fn lose_the_answer_to_the_next_commit(&self) {
        self.loses
            .answer_to_next_commit
            .store(true, Ordering::SeqCst);
    }

    /// How many messages were lost.
    pub(crate) fn lost(&self) -> usize {
        self.loses.count.load(Ordering::SeqCst)
    }

    pub(crate) fn url(&self) -> String {
        format!("postgres://flow@127.0.0.1:{}/postgres", self.port)
    }
}
