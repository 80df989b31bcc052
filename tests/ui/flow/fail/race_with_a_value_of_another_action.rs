use flow_runtime::prelude::*;

#[node(writes = parcel)]
async fn ship() -> u64 { 1 }

#[node]
fn mail(parcel: &u64) { let _ = parcel; }

flow! {
    Order() {
        node outcome: first { ship => "shipped", wait(2d) => "late" };
        start >> outcome - "shipped" >> mail >> end;
        outcome - "late" >> mail; //~
    }
}

fn main() {}
