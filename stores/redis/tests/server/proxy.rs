//! A way to the server on which messages are lost, or late.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use flow_services::Redis;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// A way to the server that can lose a message, with its connection.
#[derive(Clone)]
pub(crate) struct Proxy {
    port: u16,
    faults: Arc<Faults>,
}

#[derive(Default)]
struct Faults {
    loses_next_answer: AtomicBool,
    swallows_next_answer: AtomicBool,
    holds_next_question: AtomicBool,
    /// Whether what is held is to be handed on.
    released: watch::Sender<bool>,
    /// Whether it was handed on.
    is_through: watch::Sender<bool>,
    count: AtomicUsize,
}

impl Faults {
    fn takes(&self, fault: &AtomicBool) -> bool {
        let takes = fault.swap(false, Ordering::SeqCst);
        self.count.fetch_add(usize::from(takes), Ordering::SeqCst);
        takes
    }
}

async fn answers(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, faults: Arc<Faults>) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        if faults.takes(&faults.loses_next_answer) {
            return;
        }
        if faults.takes(&faults.swallows_next_answer) {
            // Nothing comes any more, and nothing is closed.
            std::future::pending::<()>().await;
        }
        if to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}

async fn questions(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, faults: Arc<Faults>) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        let holds = faults.takes(&faults.holds_next_question);
        if holds {
            let mut released = faults.released.subscribe();
            // The sender is in what `faults` points to.
            let _ = released.wait_for(|released| *released).await;
        }
        if to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
        if holds {
            faults.is_through.send_replace(true);
        }
    }
}

impl Proxy {
    pub(crate) async fn before(server: &Redis) -> Proxy {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (faults, to) = (Arc::<Faults>::default(), server.port());
        let proxy = Proxy {
            port,
            faults: faults.clone(),
        };
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.into_split();
                let faults = faults.clone();
                tokio::spawn(async move {
                    // When one way ends, both are closed.
                    tokio::select! {
                        () = questions(from_client, to_server, faults.clone()) => {}
                        () = answers(from_server, to_client, faults) => {}
                    }
                });
            }
        });
        proxy
    }

    pub(crate) fn lose_the_next_answer(&self) {
        self.faults.loses_next_answer.store(true, Ordering::SeqCst);
    }

    /// The connection stays as if it were whole.
    pub(crate) fn swallow_the_next_answer(&self) {
        self.faults
            .swallows_next_answer
            .store(true, Ordering::SeqCst);
    }

    /// On its way to the server, until it is let go.
    pub(crate) fn hold_the_next_question(&self) {
        self.faults
            .holds_next_question
            .store(true, Ordering::SeqCst);
    }

    /// Hands on what was held, and waits until that is done.
    pub(crate) async fn let_it_go(&self) {
        self.faults.released.send_replace(true);
        let mut is_through = self.faults.is_through.subscribe();
        is_through.wait_for(|is| *is).await.unwrap();
    }

    /// How many messages were lost or late.
    pub(crate) fn count(&self) -> usize {
        self.faults.count.load(Ordering::SeqCst)
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }
}
