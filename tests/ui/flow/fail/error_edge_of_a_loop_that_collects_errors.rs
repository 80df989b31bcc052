use flow_runtime::prelude::*;

#[node]
fn price(item: &str) -> Result<f64, std::num::ParseFloatError> { item.parse() }

flow! {
    Pricing(items: Vec<String>) {
        node prices: for item in items { price } with collect_errors;
        start >> prices >> end;
        prices - "error" >> end("failed"); //~
    }
}

fn main() {}
