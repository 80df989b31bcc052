use flow_runtime::prelude::*;

#[derive(Default)]
struct Pay;
#[node]
impl Pay {
    fn exec(&mut self, amount: &u64) -> u64 { *amount } //~
}
flow! {
    Order(amount: u64) -> (pay: u64) {
        start >> Pay >> end;
    }
}
async fn run() -> Result<u64, FlowError> {
    Ok(Order::new().run(OrderInput::builder().amount(3).build()).await?.pay)
}

fn main() {}
