use flow_runtime::prelude::*;

#[node]
fn pay() {}
flow! {
    First() { //~
        pay >> end;
    }
}
flow! { Second() { start >> pay; } } //~
flow! { Third(amount: u64) { start >> pay >> end; } } //~
flow! { Fourth() { start >> pai >> end; } } //~

fn main() {}
