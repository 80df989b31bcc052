use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict {
    Approved(u64), //~
    #[action("two words")] //~
    Rejected,
    #[action("approved")] //~
    Accepted,
    Error { reason: String }, //~
}

fn main() {}
