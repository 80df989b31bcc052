use flow_runtime::prelude::*;

#[node]
fn charge() {}
#[node]
fn refund() {}

flow! {
    Order(amount: u64) {
        branch pick(amount) { *amount > 9 => "pay", else => "free" } with undo = refund; //~
        start >> pick - "pay" >> charge >> end;
        pick - "free" >> end;
    }
}

fn main() {}
