use flow_runtime::prelude::*;

struct Orders;
struct Stock;

#[node(transaction)]
async fn post(orders: &mut Orders, stock: &mut Stock, amount: &u32) -> u32 { //~
    let _ = (orders, stock);
    *amount
}

fn main() {}
