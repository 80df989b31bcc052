use flow_runtime::prelude::*;

pub struct Prices<T>(pub Vec<T>);

#[node(writes = highest)]
fn highest(prices: &Prices) -> u64 { prices.0[0] } //~

flow! {
    Billing(prices: Prices<u64>) -> (highest: u64) {
        start >> highest >> end;
    }
}

async fn run(input: BillingInput) -> Result<u64, FlowError> { Ok(Billing::new().run(input).await?.highest) }
fn main() { let _ = run; }
