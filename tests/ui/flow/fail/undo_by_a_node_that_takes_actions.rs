use flow_runtime::prelude::*;

#[node(writes = receipt)]
fn charge() -> String { "r1".into() }
#[derive(Action)]
enum Refunded { Yes, No }
#[node(actions = Refunded)]
fn refund(receipt: &str) -> Refunded { if receipt.is_empty() { Refunded::No } else { Refunded::Yes } }

flow! {
    Order() {
        node pay: charge with undo = refund; //~
        start >> pay >> undo >> end;
    }
}

fn main() {}
