use flow_runtime::prelude::*;

struct Order;

#[node(retry(attempts = 3))]
fn ship(order: Order) -> Result<u64, String> { //~
    let _ = order;
    Ok(3)
}

fn main() {}
