use flow_runtime::prelude::*;

struct Pay;
#[node]
impl Pay {
    fn run(&self, amount: &u64) -> u64 { *amount } //~
}
flow! {
    Order(amount: u64) -> (pay: u64) {
        node pay: Pay = Pay;
        start >> pay >> end;
    }
}
async fn run() -> Result<u64, FlowError> {
    Ok(Order::new().run(OrderInput::builder().amount(3).build()).await?.pay)
}

fn main() {}
