use flow_runtime::prelude::*;

#[node]
fn pay(amount: &u64) -> Result<u64, String> { Ok(*amount) }
flow! {
    Payment(amount: u64) -> (pay: Option<u64>) {
        start >> pay >> end;
        pay - error >> end("failed"); //~
    }
}
async fn run() -> Option<u64> {
    let output = Payment::new().run(PaymentInput::builder().amount(3).build()).await.ok()?;
    match output.end { PaymentEnd::Default => output.pay, PaymentEnd::Failed => None }
}

fn main() {}
