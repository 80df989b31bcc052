use flow_runtime::prelude::*;

mod verdicts {
    pub enum Verdict { Good, Bad }
}

#[node(actions = verdicts::Verdict)] //~ //~
fn review() -> verdicts::Verdict { verdicts::Verdict::Good }

fn main() {}
