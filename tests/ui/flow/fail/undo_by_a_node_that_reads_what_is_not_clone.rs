use flow_runtime::prelude::*;

struct Receipt(u64);
#[node(writes = receipt)]
fn charge() -> Receipt { Receipt(1) }
#[node]
fn refund(receipt: &Receipt) { let _ = receipt.0; }

flow! {
    Order() {
        node pay: charge with undo = refund; //~
        start >> pay >> undo >> end;
    }
}

fn main() {}
