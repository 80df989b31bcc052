use flow_runtime::prelude::*;

#[node]
async fn ship() {}

flow! {
    Order(orders: Vec<u64>) {
        node outcome: first { ship, wait(2d) };
        node all: for order in orders { outcome }; //~
        start >> all >> end;
    }
}

fn main() {}
