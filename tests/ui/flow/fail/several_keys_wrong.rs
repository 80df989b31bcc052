use flow_runtime::prelude::*;

#[node(writes = receipt)]
fn pay(amount: &u64) -> Result<u64, String> { Ok(*amount) }
#[node]
fn notify(reciept: &u64) { let _ = reciept; }
#[node]
fn apologise(receipt: &u64) { let _ = receipt; }
flow! {
    Payment(tip: u64) -> (bill: u64) { //~ //~
        start >> pay >> notify >> end; //~ //~
        pay - "error" >> apologise >> end("failed"); //~
    }
}

fn main() {}
