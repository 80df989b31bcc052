use flow_runtime::prelude::*;

#[node]
fn pay() -> Result<(), String> { Ok(()) }

flow! {
    Payment() {
        start >> pay >> end("not_paid");
        pay - "error" >> end("not-paid"); //~
    }
}

fn main() {}
