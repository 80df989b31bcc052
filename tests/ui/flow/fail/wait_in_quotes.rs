use flow_runtime::prelude::*;

#[node]
fn ship() {}

flow! { Order() { start >> wait("1h") >> ship >> end; } } //~

fn main() {}
