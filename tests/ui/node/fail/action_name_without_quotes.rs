use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict {
    #[action(approved)] //~
    Accepted,
    Rejected,
}

fn main() {}
