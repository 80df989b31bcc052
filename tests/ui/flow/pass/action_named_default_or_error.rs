#![deny(warnings)]
use flow_runtime::prelude::*;

#[node(actions = FlowAction)]
fn work() -> FlowAction { FlowAction::Error }
flow! {
    Job() {
        start >> work >> end;
        work - "error" >> end("broken"); work - "complete" >> end; work - "success" >> end;
        work - "failure" >> end("failed"); work - "retry" >> work;
    }
}

fn main() {}
