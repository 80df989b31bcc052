use flow_runtime::prelude::*;

#[node]
fn price(item: &str) -> Result<f64, std::num::ParseFloatError> { item.parse() }

#[node]
fn sum(prices: &[f64]) -> f64 { prices.iter().sum() }

flow! {
    Pricing(items: Vec<String>) -> (sum: f64) {
        node prices: for item in items { price } with collect_errors;
        start >> prices >> sum >> end; //~
    }
}

fn main() {}
