use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Yes, No }

#[node(actions = Veridct)] //~ //~
fn review() -> Verdict { Verdict::Yes }

fn main() {}
