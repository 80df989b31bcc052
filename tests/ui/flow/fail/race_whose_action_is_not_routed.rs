use flow_runtime::prelude::*;

#[node]
async fn ship() {}

flow! {
    Order() {
        node outcome: first { ship => "shipped", wait(2d) => "late" }; //~
        start >> outcome - "shipped" >> end;
    }
}

fn main() {}
