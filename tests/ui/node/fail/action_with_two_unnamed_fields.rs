use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict {
    Approved(u64, String), //~
    Rejected,
}

fn main() {}
