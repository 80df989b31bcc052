use flow_runtime::prelude::*;

#[node]
async fn ship() {}

flow! {
    Order() {
        node outcome: first { ship >> end, wait(2d) => "late" }; //~
        start >> outcome - "default" >> end;
        outcome - "late" >> end("late");
    }
}

fn main() {}
