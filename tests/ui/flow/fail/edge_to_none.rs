use flow_runtime::prelude::*;

#[node]
fn create() -> Result<(), String> { Ok(()) }

flow! {
    Calendar() {
        start >> create >> end;
        create - "error" >> None; //~ CB-18 (b)
    }
}

fn main() {}

