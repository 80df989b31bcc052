use flow_runtime::prelude::*;

#[node(human = "Pay {amount}?")] //~
enum Decision { Pay, Refuse }

fn main() {}
