use flow_runtime::prelude::*;

#[node]
async fn ship(order: &u64) { let _ = order; }

flow! {
    Order(number: u64) {
        node outcome: first { ship { order <- number }, wait(2d) }; //~
        start >> outcome >> end;
    }
}

fn main() {}
