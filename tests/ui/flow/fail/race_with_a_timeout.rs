use flow_runtime::prelude::*;

#[node]
async fn ship() {}

flow! {
    Order() {
        node outcome: first { ship => "shipped" } with timeout = "2d"; //~
        start >> outcome - "shipped" >> end;
    }
}

fn main() {}
