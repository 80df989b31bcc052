use flow_runtime::prelude::*;

#[derive(Action)]
enum Funds { Enough, TooLittle }
#[node(actions = Funds)]
fn check(price: &u64) -> Funds { if *price < 9 { Funds::Enough } else { Funds::TooLittle } }
#[node]
fn ship(price: &u64) -> String { price.to_string() }
#[node]
fn track(ship: &str) -> usize { ship.len() }

flow! { Order(price: u64) -> (ship: Option<String>) {
    start >> check - "enough" >> ship >> end; //~
} }
flow! { Day(price: u64) { start >> Order >> track >> end; } }

fn main() {}
