use flow_runtime::prelude::*;

#[node]
fn pay() -> Result<(), String> { Ok(()) }

flow! {
    Order() {
        start >> pay >> end;
        on pay - "error" >> end("failed"); //~
    }
}

fn main() {}
