use flow_runtime::prelude::*;

pub struct Claim(u64);
pub struct Invoice(u64);
#[node]
fn load(id: &u64) -> Claim { Claim(*id) }
#[node]
fn pay(invoice: &Invoice) -> u64 { invoice.0 }
flow! { Payment(invoice: Invoice) -> (pay: u64) { start >> pay >> end; } }
flow! {
    Payout(id: u64) -> (pay: u64) {
        node payment: Payment { invoice <- load }; //~
        start >> load >> payment >> end;
    }
}
fn main() {}
