use flow_runtime::prelude::*;

#[node]
fn pay() {}
flow! { Payment() { start >> pay >> Payment >> end; } } //~
flow! { Order() { start >> Payment >> end; } }

async fn run() -> Result<(), FlowError> {
    Payment::new().run(PaymentInput::builder().build()).await?;
    Order::new().run(OrderInput::builder().build()).await?;
    Ok(())
}

fn main() {}
