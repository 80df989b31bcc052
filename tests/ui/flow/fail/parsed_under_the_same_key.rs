use flow_runtime::prelude::*;

#[node(writes = amount)]
fn parse(amount: &str) -> Result<u64, std::num::ParseIntError> { amount.parse() }
#[node]
fn double(amount: &u64) -> u64 { amount * 2 }

flow! {
    Payment(amount: String) -> (double: u64) {
        start >> parse >> double >> end; //~
    }
}

fn main() {}
