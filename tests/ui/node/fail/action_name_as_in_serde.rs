use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict {
    #[action(rename = "revise")] //~
    NeedsRevision,
    Good,
}

fn main() {}
