use flow_runtime::prelude::*;

pub struct Order;
struct Ship<T>(T);

#[node]
impl<T: Send + Sync> Ship<T> { fn exec(&self, order: Order) { let Order = order; } }
#[node]
fn bill(order: &Order) -> u64 { let Order = order; 1 }

flow! {
    Shop(order: Order) -> (bill: u64) {
        node ship: Ship<u64> = Ship(1); //~
        start >> ship >> bill >> end;
    }
}

fn main() { let _ = Shop::new(); }
