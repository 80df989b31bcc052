//! Three flows of three nodes each, nested in one. A flow is a node like any other: it reads its
//! inputs and writes its outputs. Its `end` labels are actions, which the outer flow routes.
//!
//! ```text
//! cargo run --example order_pipeline
//! ```

use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use typed_flows::prelude::*;

const STOCK: u32 = 5;

#[derive(Clone)]
struct Order {
    item: String,
    quantity: u32,
}

#[derive(Debug, thiserror::Error)]
#[error("we sell teapots and gongs, but no `{0}`")]
struct NotSold(String);

#[node(writes = price)]
fn validate(order: &Order) -> Result<u64, NotSold> {
    let price = match order.item.as_str() {
        "teapot" => 30,
        "gong" => 250,
        other => return Err(NotSold(other.to_owned())),
    };
    Ok(price * u64::from(order.quantity))
}

#[node(writes = charge)]
fn process(price: u64) -> String {
    format!("{price} EUR")
}

#[node(writes = confirmation)]
fn confirm(charge: &str) -> String {
    format!("{charge} received")
}

flow! {
    Payment(order: Order) -> (confirmation: String) {
        start >> validate >> process >> confirm >> end;
    }
}

#[derive(Action)]
enum Stock {
    Available { left: u32 },
    OutOfStock,
}

#[node(actions = Stock)]
fn check(order: &Order) -> Stock {
    match STOCK.checked_sub(order.quantity) {
        Some(left) => Stock::Available { left },
        None => Stock::OutOfStock,
    }
}

#[node(writes = reservation)]
fn reserve(order: &Order) -> String {
    format!("{} of {}", order.quantity, order.item)
}

#[node(writes = stock)]
fn update(reservation: &str, left: u32) -> String {
    format!("{reservation} taken, {left} left")
}

flow! {
    Inventory(order: Order) -> (stock: Option<String>) {
        start >> check;
        check - "available"    >> reserve >> update >> end;
        check - "out_of_stock" >> end("out_of_stock");
    }
}

#[node]
fn label(order: &Order) -> String {
    format!("{} x {}", order.quantity, order.item)
}

#[node]
fn carrier(order: &Order) -> String {
    let carrier = if order.item == "gong" {
        "freight"
    } else {
        "post"
    };
    carrier.to_owned()
}

#[node]
fn pickup(label: &str, carrier: &str) -> String {
    format!("{label} leaves by {carrier}")
}

flow! {
    Shipping(order: Order) -> (pickup: String) {
        start >> label >> carrier >> pickup >> end;
    }
}

#[node(writes = refunded)]
fn refund(confirmation: &str) -> String {
    format!("{confirmation} and paid back")
}

flow! {
    /// Takes an order from payment to pickup.
    OrderPipeline(order: Order) -> (pickup: Option<String>, refunded: Option<String>) {
        start >> Payment >> Inventory >> Shipping >> end("shipped");
        Inventory - "out_of_stock" >> refund >> end("refunded");
    }
}

/// The paths of the nodes that a run visited, without those that are flows themselves.
#[derive(Default)]
struct Trail(Mutex<Vec<String>>);

impl Observer for Trail {
    fn on_event(&self, event: &Event<'_>) {
        let path = event.path().to_string();
        let mut trail = self.0.lock().unwrap();
        match event.kind() {
            EventKind::NodeStarted => trail.push(path),
            EventKind::FlowEnded { .. } => trail.retain(|node| *node != path),
            _ => {}
        }
    }
}

async fn place(item: &str, quantity: u32) -> Result<(OrderPipelineEnd, Vec<String>), FlowError> {
    println!("{quantity} x {item}");
    let trail = Arc::new(Trail::default());

    let order = Order {
        item: item.to_owned(),
        quantity,
    };
    let input = OrderPipelineInput::builder().order(order).build();
    let options = RunOptions::new().observer(trail.clone());
    let output = OrderPipeline::new().run_with(input, options).await?;

    let trail = std::mem::take(&mut *trail.0.lock().unwrap());
    println!("  {}", trail.join("\n  "));
    let end = output.end;
    let text = match output.into_outcome() {
        OrderPipelineOutcome::Shipped { pickup } => pickup,
        OrderPipelineOutcome::Refunded { refunded } => refunded,
    };
    println!("  {end}: {text}");
    Ok((end, trail))
}

async fn place_orders() -> Result<(), FlowError> {
    let (end, trail) = place("teapot", 3).await?;
    assert_eq!(end, OrderPipelineEnd::Shipped);
    assert_eq!(
        trail,
        [
            "order_pipeline.payment.validate",
            "order_pipeline.payment.process",
            "order_pipeline.payment.confirm",
            "order_pipeline.inventory.check",
            "order_pipeline.inventory.reserve",
            "order_pipeline.inventory.update",
            "order_pipeline.shipping.label",
            "order_pipeline.shipping.carrier",
            "order_pipeline.shipping.pickup",
        ]
    );

    let (end, trail) = place("gong", STOCK + 1).await?;
    assert_eq!(end, OrderPipelineEnd::Refunded);
    assert_eq!(
        trail[3..],
        ["order_pipeline.inventory.check", "order_pipeline.refund"]
    );

    let failed = place("spoon", 1).await.expect_err("no spoons are sold");
    println!("  {failed:#}");
    assert_eq!(failed.path(), "order_pipeline.payment.validate");
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    match place_orders().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/order_pipeline.rs"]
mod law;
