use flow_runtime::prelude::*;
#[derive(Action)]
enum Funds { Enough, TooLittle }
#[node(actions = Funds)]
fn check(price: &u64) -> Funds { if *price < 9 { Funds::Enough } else { Funds::TooLittle } }
#[node(writes = parcel)]
fn ship(price: &u64) -> String { price.to_string() }
flow! { Order(price: u64, weight: u64) -> (parcel: Option<String>) { //~
    start >> check - "enough" >> ship >> end;
    check - "too_little" >> end("unpaid");
} }
fn text(output: OrderOutput) -> String {
    match output.into_outcome() {
        OrderOutcome::Default { parcel } => parcel,
        OrderOutcome::Unpaid => String::new(),
    }
}
fn main() {}
