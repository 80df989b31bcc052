use flow_runtime::prelude::*;

flow! {
    Payment(amount: u64) -> (pay: u64) {
        start >> pay >> end; //~
    }
}
async fn run() -> Result<u64, FlowError> {
    let output = Payment::new().run(PaymentInput::builder().amount(3).build()).await?;
    Ok(output.pay)
}

fn main() {}
