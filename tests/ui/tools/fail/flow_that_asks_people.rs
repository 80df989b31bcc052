use flow_agents::tools;
use flow_runtime::prelude::*;

#[derive(serde::Serialize, serde::Deserialize)]
#[node(human = "Pay?")]
struct Payment { cents: u64 }

flow! {
    Pay() -> (payment: Payment) { start >> Payment >> end; }
}

fn main() {
    let _ = tools![Pay]; //~
}
