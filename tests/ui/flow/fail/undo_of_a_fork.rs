use flow_runtime::prelude::*;

#[node]
fn charge() {}
#[node]
fn pack() {}
#[node]
fn refund() {}

flow! {
    Order() {
        node both: [charge, pack] with undo = refund; //~
        start >> both >> end;
    }
}

fn main() {}
