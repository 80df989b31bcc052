use flow_runtime::prelude::*;

#[node]
fn pay() -> Result<(), String> { Ok(()) }

flow! {
    Payment() {
        start >> pay >> end;
        pay - "error" >> end("failed");
    }
}

fn main() {
    match PaymentEnd::Default { //~
        PaymentEnd::Default => {}
    }
}
