use flow_runtime::prelude::*;

pub struct Claim(u64);
pub struct Invoice(u64);
#[node]
fn load(id: &u64) -> Claim { Claim(*id) }
#[node]
fn pay(load: Invoice) -> u64 { load.0 }
#[node]
fn log(load: &Claim) { let _ = load.0; }
flow! {
    Payout(id: u64) -> (pay: u64) {
        start >> load >> pay >> log >> end; //~
    }
}
fn main() {}
