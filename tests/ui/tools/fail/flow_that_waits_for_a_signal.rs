use flow_agents::tools;
use flow_runtime::prelude::*;

#[derive(serde::Serialize, serde::Deserialize)]
#[node(signal)]
struct Paid { cents: u64 }

flow! {
    Pay() -> (cents: u64) { start >> Paid >> end; }
}

fn main() {
    let _ = tools![Pay]; //~
    let _ = tools![Paid]; //~
}
