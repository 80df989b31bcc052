//! Flows with undo nodes whose values are JSON, so that what is loaded from their documents is
//! compared with them.

use std::time::Duration;

use flow_runtime::prelude::*;
use tokio::time::sleep;

/// Fails for the names that `fate` has.
#[node(writes = receipt)]
async fn reserve(name: &str, fate: &str) -> Result<String, String> {
    sleep(Duration::from_millis(10 * name.len() as u64)).await;
    if fate.contains(name) {
        return Err(format!("{name} cannot be reserved"));
    }
    sleep(Duration::from_millis(10)).await;
    Ok(format!("{name} is reserved"))
}

#[node]
async fn release(receipt: &str, fate: &str) -> Result<(), String> {
    sleep(Duration::from_millis(10)).await;
    if fate == receipt {
        Err(format!("{receipt} for good"))
    } else {
        Ok(())
    }
}

#[node]
fn ship(name: &str, fate: &str) -> Result<(), String> {
    if fate == "shipped" {
        Err(format!("{name} cannot be shipped"))
    } else {
        Ok(())
    }
}

#[node(writes = +receipts)]
fn note(name: &str) -> String {
    name.to_owned()
}

#[node]
fn forget(receipts: &[String]) {
    let _ = receipts;
}

flow! {
    Reservation(name: String, fate: String) -> (receipt: String) {
        start >> reserve >> ship >> end;
        node reserve: reserve with undo = release, retry(attempts = 2, wait = "1s");
    }
}

flow! {
    Trip(hotel: String, flight: String, train: String, stops: Vec<String>, fate: String) -> (receipts: Vec<String>) {
        node release_hotel: release { receipt <- of_hotel };
        node release_flight: release { receipt <- of_flight } with retry(attempts = 2, wait = "5s");
        node release_train: release { receipt <- of_train };
        node by_air: reserve { name <- flight, receipt -> of_flight } with undo = release_flight;
        node by_rail: reserve { name <- train, receipt -> of_train } with undo = release_train;
        node room: reserve { name <- hotel, receipt -> of_hotel } with undo = release_hotel;
        node noted: note { name <- hotel } with undo = forget;
        node noted_again: note { name <- flight } with undo = forget;
        node travel: first { by_air, by_rail };
        node each: for name in stops { Reservation } with concurrency(2);
        node last: Reservation { name <- hotel } with timeout = "25ms";
        node shipped: ship { name <- hotel };
        start >> travel >> [room, noted >> noted_again] >> each >> last >> shipped >> end;
        last - "error" >> undo >> shipped;
        shipped - "error" >> commit >> end("committed");
    }
}

flow_law::law! {
    nodes: [reserve, release, ship, note, forget],
    flows: [
        Reservation {
            inputs: [
                serde_json::json!({ "name": "room", "fate": "shipped" }),
                serde_json::json!({ "name": "room", "fate": "room is reserved" }),
            ],
        },
        Trip {
            inputs: ["none", "shipped", "a", "bb", "ccc", "e", "a is reserved", "bb is reserved"].map(|fate| {
                serde_json::json!({
                    "hotel": "a", "flight": "bb", "train": "ccc", "stops": ["d", "e", "f"], "fate": fate,
                })
            }),
        },
    ],
}
