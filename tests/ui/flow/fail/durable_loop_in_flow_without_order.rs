use flow_durable::{MemoryStore, Runtime};
use flow_runtime::prelude::*;
use std::collections::HashMap;

#[node]
fn price(line: (&String, &u64)) -> u64 { *line.1 }

flow! { Priced(lines: HashMap<String, u64>) -> (prices: Vec<u64>) {
    node prices: for line in lines { price };
    start >> prices >> end;
} }

flow! { Order(lines: HashMap<String, u64>) -> (prices: Vec<u64>) { start >> Priced >> end; } }

fn main() {
    let runtime = Runtime::new(std::sync::Arc::new(MemoryStore::new()));
    runtime.register(Order::new()).unwrap(); //~
}
