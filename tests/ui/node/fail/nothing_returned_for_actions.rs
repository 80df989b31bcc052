use flow_runtime::prelude::*;

#[derive(Action)]
enum Paid { Yes, No }

#[node(actions = Paid)]
fn pay() {} //~

fn main() {}
