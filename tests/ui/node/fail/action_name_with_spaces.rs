use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict {
    #[action("needs revision")] //~
    NeedsRevision,
    Rejected,
}

fn main() {}
