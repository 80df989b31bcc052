use flow_runtime::prelude::*;
/// It is neither printed nor cloned.
pub struct Opaque(u64);
#[derive(Action)]
enum Funds { Enough, TooLittle { r#type: Opaque } }
#[node(actions = Funds)]
fn check(price: &u64) -> Funds { if *price < 9 { Funds::Enough } else { Funds::TooLittle { r#type: Opaque(1) } } }
flow! { pub Order(price: u64) -> (price: u64, r#type: Option<Opaque>) {
    start >> check - "enough" >> end;
    check - "too_little" >> end("not_enough");
} }
fn main() {
    let _: fn(OrderOutput) -> u64 = |output| match output.into_outcome() {
        OrderOutcome::Default { price } => price,
        OrderOutcome::NotEnough { price, r#type } => price + r#type.0,
    };
}
