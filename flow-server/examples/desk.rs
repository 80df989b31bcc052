//! A desk for expense claims that is a tool and a server: small claims are paid at once, larger ones when
//! somebody has approved them. What happens is stored in `runs.db`, and survives the process.
//!
//! ```text
//! cargo run -p typed-flows-server --features program --example desk -- serve
//! cargo run -p typed-flows-server --features program --example desk -- start Claim employee=Ann amount=950
//! cargo run -p typed-flows-server --features program --example desk -- list
//! cargo run -p typed-flows-server --features program --example desk -- answer ID '{"Approve": {"comment": "have fun"}}'
//! ```
//!
//! With the feature `otel`, `serve` and `worker` export the traces of all executions on their store,
//! if the variable `OTEL_EXPORTER_OTLP_ENDPOINT` names a collector. Set it for one process of each
//! store.

use std::process::ExitCode;

use flow_loader::registry;
use flow_runtime::prelude::*;
use flow_server::Program;
use serde::{Deserialize, Serialize};

/// Claims above this amount need an approval, in EUR.
const LIMIT: u64 = 100;

#[derive(Action, Serialize, Deserialize)]
enum Size {
    Small,
    Large,
}

#[node(actions = Size)]
fn measure(amount: &u64) -> Size {
    match *amount {
        0..=LIMIT => Size::Small,
        _ => Size::Large,
    }
}

/// What somebody decides on a claim.
#[node(human = "Approve {amount} EUR for {employee}?", timeout = "14d")]
#[derive(Serialize, Deserialize)]
enum Decision {
    Approve { comment: String },
    Reject { reason: String },
}

/// Stands in for a bank.
#[node(writes = receipt)]
fn pay(amount: &u64, employee: &str) -> Result<String, String> {
    match employee {
        "" => Err("there is nobody to pay".to_owned()),
        employee => Ok(format!("{amount} EUR to {employee}")),
    }
}

flow! {
    /// Pays expenses.
    Claim(employee: String, amount: u64) -> (receipt: Option<String>) {
        start >> measure;
        measure  - "small"   >> pay;
        measure  - "large"   >> Decision;
        Decision - "approve" >> pay >> end;
        Decision - "reject"  >> end("rejected");
        Decision - "timeout" >> end("late");
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let program = Program::new().flow(Claim::new());
    let program = program.nodes(registry![measure, pay, Decision]);
    let matches = program.command().get_matches();
    #[cfg(feature = "otel")]
    let traces = match traces::Exported::of(&matches).await {
        Ok(traces) => traces,
        Err(error) => {
            eprintln!("traces cannot be exported: {error}");
            return ExitCode::from(2);
        }
    };
    let code = program.execute(&matches).await;
    #[cfg(feature = "otel")]
    traces.end();
    code
}

#[cfg(feature = "otel")]
mod traces {
    use std::error::Error;
    use std::time::Duration;

    use clap::ArgMatches;
    use flow_durable::{EventFilter, RuntimeOptions};
    use flow_otel::{Follower, SpanIds, Telemetry};
    use flow_terminal::StoreAddress;
    use opentelemetry_otlp::{OTEL_EXPORTER_OTLP_ENDPOINT, SpanExporter};
    use opentelemetry_sdk::metrics::SdkMeterProvider;
    use opentelemetry_sdk::trace::SdkTracerProvider;

    /// The pause before the store is read again after an error.
    const PAUSE: Duration = Duration::from_secs(5);

    /// The traces of the executions on the store, whichever process runs them. They go to the
    /// collector in `OTEL_EXPORTER_OTLP_ENDPOINT`; without it, this does nothing.
    pub(super) struct Exported(Option<SdkTracerProvider>);

    impl Exported {
        /// Begins with what happens from now on, if this process serves or works.
        pub(super) async fn of(matches: &ArgMatches) -> Result<Self, Box<dyn Error>> {
            let works = matches!(matches.subcommand_name(), Some("serve" | "worker"));
            let address = std::env::var_os(OTEL_EXPORTER_OTLP_ENDPOINT);
            let store = matches.get_one::<StoreAddress>("store");
            let (Some(store), true) = (store, works && address.is_some_and(|it| !it.is_empty()))
            else {
                return Ok(Exported(None));
            };
            // The exporter reads the address and the name of the service from the environment.
            let tracers = SdkTracerProvider::builder()
                .with_id_generator(SpanIds::new())
                .with_batch_exporter(SpanExporter::builder().with_http().build()?)
                .build();
            // Metrics go nowhere: they would need an exporter of their own.
            let telemetry = Telemetry::new(&tracers, &SdkMeterProvider::default());
            // It has no flows and runs no executions: it only reads. Texts of errors that `--blobs`
            // keeps outside the store are not read.
            let options = RuntimeOptions::new().concurrent_executions(0);
            let opened = store.open_with(options).await;
            let runtime = opened.map_err(|error| store.explain(&error))?;
            let mut follower = Follower::new(runtime.all_owners(), &telemetry);
            tokio::spawn(async move {
                while let Err(error) = follower.follow(EventFilter::new()).await {
                    eprintln!("traces: {error}");
                    tokio::time::sleep(PAUSE).await;
                }
            });
            Ok(Exported(Some(tracers)))
        }

        /// Sends what has not been sent yet.
        pub(super) fn end(self) {
            if let Some(Err(error)) = self.0.map(|tracers| tracers.shutdown()) {
                eprintln!("traces: {error}");
            }
        }
    }
}
