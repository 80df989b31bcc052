use flow_runtime::prelude::*;

#[node]
async fn ship() {}

flow! {
    Order() {
        start >> first { ship => "shipped", wait(2d) => "late" } >> end; //~
    }
}

fn main() {}
