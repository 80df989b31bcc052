#![deny(warnings)]
use flow_runtime::prelude::*;

pub struct Order(u64);
pub struct Receipt(u64);
#[node]
fn pay(order: &Order) -> Receipt { Receipt(order.0) }
#[node]
fn check(receipt: Receipt, order: Order) -> Order { Order(receipt.0 + order.0) }
flow! {
    Shop(order: Order) -> (check: Order) {
        node pay: pay { pay -> receipt };
        start >> pay >> check >> end;
    }
}

fn main() {}
