use flow_runtime::prelude::*;

#[derive(Default)]
struct Estimate;

#[node(writes = offer)]
impl Estimate {
    fn prep(&self, hours: &u64) -> u64 { *hours }
    fn exec(&self, hours: u64) -> u64 { hours * 85 }
    fn post(&self, result: u64, customer: &str) -> String { format!("{customer}: {result}") } //~
}

flow! {
    Offer(hours: u64, customer: String) -> (offer: String) { start >> Estimate >> end; }
}

fn main() {}
