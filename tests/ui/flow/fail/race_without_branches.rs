use flow_runtime::prelude::*;

#[node]
async fn ship() {}

flow! {
    Order() {
        node outcome: first {}; //~
        start >> outcome >> end;
    }
}

fn main() {}
