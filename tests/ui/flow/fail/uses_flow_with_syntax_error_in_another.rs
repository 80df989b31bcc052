use flow_runtime::prelude::*;

#[node]
fn pay() -> Result<u64, String> { Ok(3) }
flow! {
    Payment() -> (pay: Option<u64>) {
        start >> pay >> end;
        pay - "error" > end("failed"); //~
    }
}
flow! {
    Order() -> (pay: u64) {
        start >> Payment;
        Payment - "default" >> end; Payment - "failed" >> end("unpaid");
    }
}

fn main() {}
