use flow_runtime::prelude::*;

#[node(writes = highest)]
fn highest(prices: &Vec) -> u64 { prices[0] } //~

flow! {
    Billing(prices: Vec<u64>) -> (highest: u64) {
        start >> highest >> end;
    }
}

async fn run(input: BillingInput) -> Result<u64, FlowError> { Ok(Billing::new().run(input).await?.highest) }
fn main() { let _ = run; }
