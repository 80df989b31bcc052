use flow_runtime::prelude::*;

#[node(timeout = "soon")] //~
fn price(goods: &[String]) -> u64 { goods.len() as u64 }
#[node]
fn pay(price: &u64) -> u64 { *price }
flow! {
    Order(goods: Vec<String>) -> (pay: u64) {
        start >> price >> pay >> end;
    }
}
async fn run() -> Result<u64, FlowError> {
    assert_eq!(price(&[]), 0);
    Ok(Order::new().run(OrderInput::builder().goods(Vec::new()).build()).await?.pay)
}

fn main() {}
