use flow_runtime::prelude::*;

#[node(writes(net, gross))]
fn price(hours: &u64) -> (u64, u64) { (*hours, *hours * 2) }
#[node(writes = invoice)]
fn bill(net: &u64, gross: &u64) -> String { format!("{net}, {gross}") }

flow! { Pricing(hours: u64) -> (gross: u64) { start >> price >> end; } }

flow! {
    Checkout(hours: u64) -> (invoice: String) {
        start >> Pricing >> bill >> end; //~
    }
}

fn main() {}
