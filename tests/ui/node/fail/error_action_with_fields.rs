use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict {
    Approved,
    Error { reason: String }, //~
}

fn main() {}
