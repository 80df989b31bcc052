use flow_runtime::prelude::*;

#[node]
fn pay() -> Result<(), String> { Ok(()) }

flow! {
    Payment() {
        node pay: pay with timout = "30s"; //~
        start >> pay >> end;
    }
}

fn main() {}
