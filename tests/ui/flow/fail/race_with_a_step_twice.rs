use flow_runtime::prelude::*;

#[node]
async fn ship() {}

flow! {
    Order() {
        node outcome: first { ship => "once", ship => "twice" }; //~
        start >> outcome - "once" >> end;
        outcome - "twice" >> end;
    }
}

fn main() {}
