use flow_runtime::prelude::*;

#[node]
fn note(pay: Option<&u64>) -> u64 { pay.copied().unwrap_or(0) }
flow! {
    Payment(amount: u64) -> (pay: Option<u64>) {
        start >> pay >> end; //~
    }
}
flow! { Report(amount: u64) { start >> Payment >> note >> end; } } //~
async fn run() -> Result<(), FlowError> {
    Payment::new().run(PaymentInput::builder().amount(3).build()).await?;
    Report::new().run(ReportInput::builder().amount(3).build()).await?;
    Ok(())
}
fn main() {}
