use flow_runtime::prelude::*;

#[node]
fn pay() -> Result<(), String> {
    Ok(())
}
#[node]
fn apologise(error: &NodeError) {
    let _ = error;
}

flow! {
    Payment() {
        start >> pay >> apologise >> end; //~
        pay - "error" >> apologise;
    }
}

fn main() {}
