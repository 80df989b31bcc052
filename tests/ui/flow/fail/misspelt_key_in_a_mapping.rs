use flow_runtime::prelude::*;

#[node]
fn price(item: &str) -> u64 { item.len() as u64 }
#[node]
fn show(amount: &u64) -> String { amount.to_string() }

flow! {
    Shop(item: String) -> (show: String) {
        node show: show { amount <- prise }; //~
        start >> price >> show >> end;
    }
}

fn main() {}
