use flow_runtime::prelude::*;

#[node]
async fn ship() {}

#[node]
async fn bill() {}

flow! {
    Order() {
        node outcome: first { [ship, bill] => "done", wait(2d) => "late" }; //~
        start >> outcome - "done" >> end;
        outcome - "late" >> end("late");
    }
}

fn main() {}
