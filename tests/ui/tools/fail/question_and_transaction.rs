use flow_agents::tools;
use flow_runtime::prelude::*;

#[derive(serde::Serialize, serde::Deserialize)]
#[node(human = "Pay?")]
struct Payment;

struct Transaction;

#[node(transaction)]
async fn post(_tx: &mut Transaction, _amount: u64) -> String { String::new() }

fn main() {
    let _ = tools![Payment]; //~
    let _ = tools![post]; //~
}
