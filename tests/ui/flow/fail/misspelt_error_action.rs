use flow_runtime::prelude::*;

#[node]
fn pay() -> Result<(), String> {
    Ok(())
}

flow! {
    Payment() {
        start >> pay >> end;
        pay - "eror" >> end("failed"); //~
    }
}

fn main() {}
