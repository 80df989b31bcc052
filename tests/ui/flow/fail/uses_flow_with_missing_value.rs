use flow_runtime::prelude::*;

#[node]
fn pay(amount: &u64) -> u64 { *amount }
flow! {
    Payment() -> (pay: u64) {
        start >> pay >> end; //~
    }
}
async fn run() -> Result<u64, FlowError> {
    let output = Payment::new().run_with(PaymentInput::builder().build(), RunOptions::new()).await?;
    println!("{:?} {:?} {:?}", Payment::ROUTES, PaymentNode::Pay, output);
    Ok(output.pay)
}

fn main() {}
