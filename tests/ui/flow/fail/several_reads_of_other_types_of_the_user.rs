use flow_runtime::prelude::*;

pub struct Claim(u64);
pub struct Invoice(u64);
#[node]
fn load(id: &u64) -> Claim { Claim(*id) }
#[node(writes = paid)]
fn pay(load: &Invoice) -> u64 { load.0 }
#[node(writes = name)]
fn name(load: &str) -> String { load.to_owned() }
flow! {
    Payout(id: u64) -> (paid: u64, name: String, load: Invoice) { //~
        start >> load
            >> pay //~
            >> name //~
            >> end;
    }
}
fn main() {}
