//! The chain, on a Restate server that calls this process.

use flow_restate::Endpoint;
use tokio::net::TcpListener;

use crate::chain::Chain;
use crate::{Outcome, repeat};

fn post(url: &str, body: &str) -> Outcome<String> {
    let mut answer = ureq::post(url)
        .header("content-type", "application/json")
        .send(body)?;
    Ok(answer.body_mut().read_to_string()?)
}

async fn call(url: String, body: String) -> Outcome<String> {
    tokio::task::spawn_blocking(move || post(&url, &body)).await?
}

pub(crate) async fn run(servers: &str, at_once: usize, seconds: u64) -> Outcome {
    let (ingress, admin) = servers
        .split_once(' ')
        .ok_or("restate:INGRESS ADMIN, two addresses")?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let here = listener.local_addr()?;
    tokio::spawn(Endpoint::new().flow(Chain::new()).serve(listener));
    let deployment = format!("{{\"uri\": \"http://{here}\"}}");
    call(format!("{admin}/deployments"), deployment).await?;
    let (ingress, process) = (ingress.to_owned(), std::process::id());
    repeat(at_once, seconds, move |number| {
        let url = format!("{ingress}/Chain/{process}-{number}/run");
        async move {
            let said = call(url, "{\"total\": 0}".to_owned()).await?;
            if said.contains("\"total\":10") {
                Ok(())
            } else {
                Err(format!("the chain did not come to 10: {said}").into())
            }
        }
    })
    .await
}
