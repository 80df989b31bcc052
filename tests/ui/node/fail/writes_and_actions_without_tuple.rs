use flow_runtime::prelude::*;

#[derive(Action)]
enum Paid { Yes, No }

#[node(writes = receipt, actions = Paid)]
fn pay() -> Paid { Paid::No } //~

fn main() {}
