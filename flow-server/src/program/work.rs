//! `serve` and `worker`: what goes on until the process is interrupted.

use flow_durable::Runtime;
use flow_terminal::Outcome;
use tokio::net::TcpListener;

use super::arguments;
use crate::access::BearerTokens;
use crate::server::Server;

pub(super) async fn serve(
    arguments: &arguments::Serve,
    runtime: Runtime,
) -> Result<Outcome, String> {
    let mut server = Server::new(runtime.clone());
    if let Some(file) = &arguments.tokens {
        let tokens = BearerTokens::from_file(file);
        let tokens = tokens.map_err(|error| format!("{}: {error}", file.display()))?;
        server = server.authentication(tokens);
    }
    let address = &arguments.listen;
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|error| format!("cannot listen on {address}: {error}"))?;
    recover(&runtime).await?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    println!("http://{address}");
    let served = server.serve_until(listener, interrupted()).await;
    served.map_err(|error| error.to_string())?;
    Ok(Outcome::Fine)
}

pub(super) async fn work(runtime: Runtime) -> Result<Outcome, String> {
    recover(&runtime).await?;
    interrupted().await;
    runtime.shut_down().await;
    Ok(Outcome::Fine)
}

/// Goes on with what waits, and says what cannot go on.
async fn recover(runtime: &Runtime) -> Result<(), String> {
    let recovered = runtime.recover().await.map_err(|error| error.to_string())?;
    for (id, error) in &recovered.refused {
        eprintln!(
            "{}",
            flow_spec::visible(&format!("{id} cannot go on: {error}"))
        );
    }
    Ok(())
}

/// Returns when the process is interrupted, or asked to end.
pub(super) async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};

        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    // If it cannot be listened for, the process ends at once, and another one goes on.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
