use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict {
    #[action("")] //~
    Approved,
    Rejected,
}

fn main() {}
