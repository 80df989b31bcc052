//! Serves a flow on port 9080, to be registered with `restate deployments register`.

use flow_restate::Endpoint;
use flow_runtime::prelude::*;
use tokio::net::TcpListener;

#[node(writes = number)]
fn double(number: u32) -> u32 {
    number * 2
}

flow! {
    Power(number: u32) -> (number: u32) {
        branch is_enough(number) { *number >= 100_000_000 => "yes", else => "no" }
        start >> double >> is_enough;
        is_enough - "no" >> double;
        is_enough - "yes" >> end;
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:9080").await?;
    Endpoint::new().flow(Power::new()).serve(listener).await?;
    Ok(())
}
