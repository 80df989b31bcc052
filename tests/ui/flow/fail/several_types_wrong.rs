use flow_runtime::prelude::*;

#[node]
fn price() -> u64 { 3 }
#[node]
fn show(price: &str) { let _ = price; }
#[node(writes = price)]
fn round() -> f64 { 3.0 }
flow! {
    Shop() -> (price: u32) { //~
        start >> price >> show >> round >> end; //~ //~
    }
}

fn main() {}
