//! Accepts, limits and closes connections.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::limits::Limits;
use crate::written::Written;

/// The delay after a connection could not be accepted, for instance because the process has too
/// many open files.
const TRY_AGAIN: Duration = Duration::from_millis(100);

/// Accepts connections until `stop` is ready. Returns when all are closed.
pub(crate) async fn listen(
    listener: TcpListener,
    router: Router,
    limits: &Limits,
    mut stop: Pin<&mut (impl Future<Output = ()> + Send)>,
    closing: &CancellationToken,
) {
    let connections = limits.connections.get().min(Semaphore::MAX_PERMITS);
    let connections = Arc::new(Semaphore::new(connections));
    let graceful = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.request_time)
        .max_buf_size(64 * 1024);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = accept(&listener, &connections, limits.write_time) => accepted,
        };
        match accepted {
            Ok((stream, peer, permit)) => {
                serve(&http, &graceful, router.clone(), stream, peer, permit);
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(TRY_AGAIN).await;
            }
        }
    }
    drop(listener);
    closing.cancel();
    let drained = tokio::time::timeout(limits.drain, graceful.shutdown()).await;
    if drained.is_err() {
        tracing::warn!("requests did not finish in time; their connections are closed");
    }
}

async fn accept(
    listener: &TcpListener,
    connections: &Arc<Semaphore>,
    write_time: Duration,
) -> std::io::Result<(Written, SocketAddr, OwnedSemaphorePermit)> {
    let permit = connections.clone().acquire_owned().await;
    let permit = permit.unwrap_or_else(|_| unreachable!("the semaphore is never closed"));
    let (stream, peer) = listener.accept().await?;
    // Events are small and should be sent immediately.
    stream.set_nodelay(true)?;
    Ok((Written::new(stream, write_time), peer, permit))
}

fn serve(
    http: &http1::Builder,
    graceful: &GracefulShutdown,
    router: Router,
    stream: Written,
    peer: SocketAddr,
    permit: OwnedSemaphorePermit,
) {
    let service = router.map_request(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        request
    });
    let service = TowerToHyperService::new(service);
    let connection = http.serve_connection(TokioIo::new(stream), service);
    let connection = graceful.watch(connection);
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection ended");
        }
        drop(permit);
    });
}
