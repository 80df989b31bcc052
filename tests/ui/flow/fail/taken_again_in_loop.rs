use flow_runtime::prelude::*;

struct Order;
#[derive(Action)]
enum Shipped { Partly, Fully }
#[node]
fn order() -> Order { Order }
#[node(actions = Shipped)]
fn ship(order: Order) -> Shipped { let _ = order; Shipped::Fully }

flow! {
    Shop() {
        start >> order >> ship; //~
        ship - "partly" >> ship;
        ship - "fully" >> end;
    }
}

fn main() {}
