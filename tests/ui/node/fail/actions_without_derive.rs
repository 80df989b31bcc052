use flow_runtime::prelude::*;

enum Paid { Yes, No }

#[node(actions = Paid)] //~ //~
fn pay() -> Paid { Paid::Yes }

fn main() {}
