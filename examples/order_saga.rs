//! An order that is taken back as a whole: if a parcel cannot be shipped, if the customer cancels
//! while it is shipped, and if the program ends in the middle of taking it back.
//!
//! ```text
//! cargo run -p flow-examples --example order_saga
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use tokio::time::sleep;
use typed_flows::durable::{Runtime, StartOptions, Status};
use typed_flows::prelude::*;
use typed_flows::sqlite::SqliteStore;

/// Stands in for a warehouse, a bank and a carrier: what they have done for which step. They do it
/// once for each id, as services with idempotency keys do.
static DONE: Mutex<BTreeMap<String, bool>> = Mutex::new(BTreeMap::new());

async fn done(id: String) -> String {
    DONE.lock().unwrap().insert(id.clone(), true);
    sleep(Duration::from_millis(5)).await;
    id
}

async fn taken_back(id: &str) {
    sleep(Duration::from_millis(5)).await;
    DONE.lock().unwrap().insert(id.to_owned(), false);
}

/// The number of things that are done and not taken back.
fn open() -> usize {
    DONE.lock().unwrap().values().filter(|done| **done).count()
}

#[node(writes = reservation)]
async fn reserve(cx: &Context) -> String {
    done(cx.step_id()).await
}

#[node]
async fn release(reservation: &str) {
    taken_back(reservation).await;
}

#[node(writes = payment)]
async fn charge(cx: &Context) -> String {
    done(cx.step_id()).await
}

#[node(retry(attempts = 3, wait = "10ms"))]
async fn refund(payment: &str) -> Result<(), String> {
    taken_back(payment).await;
    Ok(())
}

#[node(writes = label)]
async fn ship(cx: &Context, parcel: &str) -> Result<String, String> {
    if parcel == "a piano" {
        return Err(format!("nobody carries {parcel}"));
    }
    Ok(done(cx.step_id()).await)
}

#[node]
async fn recall(label: &str) {
    taken_back(label).await;
}

#[node(writes = letter)]
fn mail(labels: &[String]) -> String {
    format!("{} parcels are on their way", labels.len())
}

flow! {
    /// One parcel. A loop over items runs a flow, so that each item has its own undo node.
    Parcel(parcel: String) -> (label: String) {
        node ship: ship with undo = recall;
        start >> ship >> end;
    }
}

flow! {
    /// Until the letter is written, everything can be taken back.
    Fulfil(parcels: Vec<String>) -> (letter: Option<String>) {
        node reserve: reserve with undo = release;
        node charge: charge with undo = refund;
        node labels: for parcel in parcels { Parcel };

        start >> reserve >> charge >> labels >> commit >> mail >> end;
        labels - "error" >> undo >> end("refused");
    }
}

/// A program that works on orders. What it knows is in the file.
async fn serve(file: &Path) -> Result<Runtime, Box<dyn Error>> {
    let runtime = Runtime::new(SqliteStore::open(file).await?);
    runtime.register(Fulfil::new())?;
    runtime.recover().await?;
    Ok(runtime)
}

fn order(parcels: [&str; 3]) -> FulfilInput {
    let parcels = parcels.map(str::to_owned).to_vec();
    FulfilInput { parcels }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("orders.db");
    let runtime = serve(&file).await?;
    let orders = runtime.executions();

    let refused = order(["a book", "a lamp", "a piano"]);
    let refused = orders.start::<Fulfil>(refused, StartOptions::new()).await?;
    let output = refused.settled().await?.output::<Fulfil>()?;
    assert_eq!(output.map(|output| output.end), Some(FulfilEnd::Refused));
    assert_eq!(open(), 0);
    println!("A piano cannot be shipped: everything is taken back.");

    let cancelled = order(["a book", "a lamp", "a chair"]);
    let cancelled = orders
        .start::<Fulfil>(cancelled, StartOptions::new())
        .await?;
    while open() < 3 {
        sleep(Duration::from_millis(1)).await;
    }
    orders
        .cancel(cancelled.id(), "the customer has changed their mind")
        .await?;
    // The program ends while the order is taken back, and another one goes on.
    runtime.shut_down().await;
    let runtime = serve(&file).await?;
    let orders = runtime.executions();
    let cancelled = orders.get(cancelled.id()).await?.settled().await?;
    assert_eq!((cancelled.status(), open()), (Status::Cancelled, 0));
    for record in cancelled.journal().await? {
        if record.path.ends_with("!undo") && record.kind.as_str() == "outcome" {
            println!("{} is done", record.path);
        }
    }

    let fine = order(["a book", "a lamp", "a chair"]);
    let fine = orders.start::<Fulfil>(fine, StartOptions::new()).await?;
    let output = fine.settled().await?.output::<Fulfil>()?;
    let letter = output.and_then(|output| output.letter);
    assert_eq!(letter.as_deref(), Some("3 parcels are on their way"));
    assert_eq!(open(), 5);
    Ok(())
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/order_saga.rs"]
mod law;
