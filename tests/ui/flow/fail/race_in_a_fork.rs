use flow_runtime::prelude::*;

#[node]
async fn ship() {}

#[node]
async fn bill() {}

flow! {
    Order() {
        node outcome: first { ship, wait(2d) };
        start >> [outcome, bill] >> end; //~
    }
}

fn main() {}
