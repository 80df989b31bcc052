use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict {
    #[action] //~
    Accepted,
    Rejected,
}

fn main() {}
