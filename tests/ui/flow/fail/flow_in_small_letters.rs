// Said once, of the flow, and not of the types that are named after it.
#![deny(nonstandard_style)]
use flow_runtime::prelude::*;

#[node]
fn ship() {}

flow! { pack_order() { start >> ship >> end; } } //~

fn main() {}
