use flow_runtime::prelude::*;

#[node(writes = weight_kg)]
fn weigh(parcel: &str) -> f64 { parcel.len() as f64 }
#[node]
fn label(weight: &f64) -> String { format!("{weight} kg") }

flow! {
    Shipment(parcel: String) -> (label: String) {
        start >> weigh >> label >> end; //~
    }
}

fn main() {}
