use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict {
    #[action("yes")]
    #[action("approved")] //~
    Accepted,
    Rejected,
}

fn main() {}
