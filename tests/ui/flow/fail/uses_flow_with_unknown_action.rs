use flow_runtime::prelude::*;

#[node]
fn pay() {}
flow! {
    Payment() {
        start >> pay - "paid" >> end; //~
    }
}
async fn run() -> Result<PaymentEnd, FlowError> {
    let input = PaymentInput::builder().build();
    let output = Payment::new().run(input).await?;
    match output.end { PaymentEnd::Default => Ok(output.end) }
}

fn main() {}
