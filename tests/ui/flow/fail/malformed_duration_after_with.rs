use flow_runtime::prelude::*;

#[node]
fn pay() -> Result<(), String> { Ok(()) }

flow! {
    Payment() {
        node pay: pay with timeout = "half an hour"; //~
        start >> pay >> end;
    }
}

fn main() {}
