#![deny(warnings)]
use flow_runtime::prelude::*;

struct Order {
    amount: u64,
}

fn limit() -> u64 {
    10
}

flow! {
    Route(orders: Vec<Order>, amount: u64, limit: u64) -> (amount: u64, limit: u64) {
        branch size(orders) {
            orders.iter().any(|amount| amount.amount > 100) => "large",
            orders[0].amount > limit() => "middle",
            else => "small",
        }
        start >> size;
        size - "large" >> end("large");
        size - "middle" >> end("middle");
        size - "small" >> end;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let input = RouteInput::builder().orders(vec![Order { amount: 20 }]).amount(1).limit(2).build();
    let output = Route::new().run(input).await.unwrap();
    assert_eq!((output.end, output.amount, output.limit), (RouteEnd::Middle, 1, 2));
}
