use flow_runtime::prelude::*;

#[node(writes = receipt)]
fn pay() -> Result<u64, String> {
    Ok(1)
}

flow! {
    Payment() -> (receipt: u64) {
        start >> pay >> end;
        pay - "error" >> end("failed"); //~
    }
}

fn main() {}
