//! The commands `serve` and `worker`, which run until the process is interrupted.

use std::convert::Infallible;
use std::future::pending;
use std::time::Duration;

use flow_durable::{Runtime, RuntimeOptions};
use flow_spec::did_you_mean;
use flow_terminal::Outcome;
use tokio::net::TcpListener;

#[cfg(feature = "definitions")]
use super::defined;
use super::scheduled::Scheduled;
use super::{Program, arguments};
use crate::access::BearerTokens;
use crate::limits::Limits;
use crate::server::Server;

/// The interval between looks for work in the store.
const LOOK_EVERY: Duration = Duration::from_millis(500);

impl Program {
    /// Returns the options of a process that works.
    pub(super) fn options(&self, work: &arguments::Work) -> Result<RuntimeOptions, String> {
        let mut options = RuntimeOptions::new().look_for_work(LOOK_EVERY);
        if let Some(at_most) = work.concurrent {
            options = options.concurrent_executions(at_most);
        }
        for (flow, at_most) in &work.concurrent_of {
            let names = || self.flows.iter().map(|flow| flow.name());
            if !names().any(|name| name == flow) {
                let help = did_you_mean(flow, names());
                let help = help.unwrap_or_else(|| "`flows` lists what there is".to_owned());
                return Err(format!("there is no flow `{flow}`\nhelp: {help}"));
            }
            options = options.concurrent_executions_of(flow, *at_most);
        }
        Ok(options)
    }

    pub(super) async fn serve(
        &self,
        arguments: &arguments::Serve,
        runtime: Runtime,
    ) -> Result<Outcome, String> {
        let served = self.serve_until_interrupted(arguments, &runtime).await;
        // Work has to stop after an error too, or it would keep its claim.
        runtime.shut_down().await;
        served
    }

    async fn serve_until_interrupted(
        &self,
        arguments: &arguments::Serve,
        runtime: &Runtime,
    ) -> Result<Outcome, String> {
        let limits = Limits {
            drain: arguments.work.drain(),
            ..Limits::default()
        };
        let mut server = Server::new(runtime.clone()).limits(limits);
        if let Some(file) = &arguments.tokens {
            let tokens = BearerTokens::from_file(file);
            let tokens = tokens.map_err(|error| format!("{}: {error}", file.display()))?;
            server = server.authentication(tokens);
        }
        let address = &arguments.listen;
        let listener = TcpListener::bind(address).await;
        let listener = listener.map_err(|error| format!("cannot listen on {address}: {error}"))?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        // No work starts before serving is known to be allowed.
        self.scheduled.check(runtime)?;
        server
            .check_address(address)
            .map_err(|error| error.to_string())?;
        #[cfg(feature = "definitions")]
        let server = defined::with_definitions(server, arguments, &self.nodes).await?;
        recover(runtime).await?;
        println!("http://{address}");
        let interrupted_twice = async {
            interrupted().await;
            interrupted().await;
        };
        tokio::select! {
            served = server.serve_until(listener, interrupted()) => {
                served.map_err(|error| error.to_string())?;
            }
            () = interrupted_twice => {}
            never = starting_until_interrupted(runtime, &self.scheduled) => match never? {},
        }
        Ok(Outcome::Fine)
    }
}

/// Starts executions when they are due, until the process is asked to end.
async fn starting_until_interrupted(
    runtime: &Runtime,
    scheduled: &Scheduled,
) -> Result<Infallible, String> {
    tokio::select! {
        never = scheduled.run(runtime) => never,
        () = interrupted() => pending().await,
    }
}

pub(super) async fn work(
    arguments: &arguments::Work,
    runtime: Runtime,
    scheduled: &Scheduled,
) -> Result<Outcome, String> {
    let worked = work_until_interrupted(arguments, &runtime, scheduled).await;
    runtime.shut_down().await;
    worked.map(|()| Outcome::Fine)
}

async fn work_until_interrupted(
    arguments: &arguments::Work,
    runtime: &Runtime,
    scheduled: &Scheduled,
) -> Result<(), String> {
    scheduled.check(runtime)?;
    recover(runtime).await?;
    tokio::select! {
        never = scheduled.run(runtime) => match never? {},
        () = interrupted() => {}
    }
    tokio::select! {
        () = runtime.drain(arguments.drain()) => {}
        () = interrupted() => {}
    }
    Ok(())
}

/// Resumes waiting executions, and prints those that cannot be resumed.
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
    #[cfg(windows)]
    {
        use tokio::signal::windows::{ctrl_break, ctrl_close, ctrl_shutdown};

        if let (Ok(mut broken), Ok(mut closed), Ok(mut shut_down)) =
            (ctrl_break(), ctrl_close(), ctrl_shutdown())
        {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = broken.recv() => {}
                _ = closed.recv() => {}
                _ = shut_down.recv() => {}
            }
            return;
        }
    }
    // If the signal cannot be caught, the process ends at once, and another one takes over.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
