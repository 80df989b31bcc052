use flow_runtime::prelude::*;

#[node]
fn pay(amount: &u64) -> u64 { *amount }
flow! { Payment(amount: u64) -> (pay: u64) { start >> pay; } } //~
flow! {
    Order(amount: u64) -> (pay: u64) {
        start >> Payment >> end;
    }
}
async fn run() -> Result<u64, FlowError> {
    Ok(Order::new().run(OrderInput::builder().amount(3).build()).await?.pay)
}

fn main() {}
