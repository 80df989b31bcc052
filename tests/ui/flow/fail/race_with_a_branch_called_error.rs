use flow_runtime::prelude::*;

#[node]
async fn ship() -> Result<(), String> { Ok(()) }

flow! {
    Order() {
        node outcome: first { ship => "error", wait(2d) => "late" }; //~
        start >> outcome - "late" >> end;
        outcome - "error" >> end;
    }
}

fn main() {}
