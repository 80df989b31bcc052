#![deny(warnings)]
use flow_runtime::prelude::*;
struct Order(u64);
#[derive(Action)]
enum Ready { Yes, No }
#[node]
fn order() -> Order { Order(3) }
#[node(actions = Ready)]
fn check(order: &Order) -> Ready { if order.0 > 1 { Ready::Yes } else { Ready::No } }
#[node]
fn ship(order: Order) -> u64 { order.0 }
flow! {
    Shop() -> (ship: Option<u64>) {
        start >> order >> check;
        check - "yes" >> ship >> end;
        check - "no" >> order;
    }
}
fn main() {}
