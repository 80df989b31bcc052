use flow_runtime::prelude::*;

#[node]
async fn ship() {}

flow! {
    Order() {
        node outcome: first { ship, wait(2d) } with concurrency(2); //~
        start >> outcome >> end;
    }
}

fn main() {}
