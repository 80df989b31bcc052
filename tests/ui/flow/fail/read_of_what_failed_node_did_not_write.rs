use flow_runtime::prelude::*;

#[node(writes = receipt)]
fn pay() -> Result<u64, String> {
    Ok(1)
}
#[node]
fn apologise(receipt: &u64) {
    let _ = receipt;
}

flow! {
    Payment() {
        start >> pay >> end;
        pay - "error" >> apologise >> end; //~
    }
}

fn main() {}
