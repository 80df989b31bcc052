#![deny(warnings)]
use flow_runtime::prelude::*;
#[derive(Action)]
enum Size { Small, Large }
#[node(actions = Size)]
fn weigh(grams: &u64) -> Size { if *grams > 9 { Size::Large } else { Size::Small } }
#[node(writes = price)] fn letter() -> u64 { 1 }
#[node(writes = price)]
fn parcel(grams: &u64) -> u64 { grams * 2 }
#[node]
fn stamp(price: &u64) -> String { price.to_string() }
flow! {
    Post(grams: u64) -> (stamp: String) {
        start >> weigh;
        weigh - "small" >> letter >> stamp >> end;
        weigh - "large" >> parcel >> stamp;
    }
}
fn main() {}
