use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict {
    Approved,
    #[action("approved")] //~
    Accepted,
}

fn main() {}
