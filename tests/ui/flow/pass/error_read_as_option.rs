#![deny(warnings)]
use flow_runtime::prelude::*;

#[node]
fn pay() -> Result<u64, String> { Err("empty".into()) }
#[node]
fn report(error: Option<&NodeError>, pay: Option<&u64>) -> String { format!("{:?} {pay:?}", error.is_some()) }
flow! {
    Payment() -> (report: String) {
        start >> pay >> report >> end;
        pay - "error" >> report;
    }
}

fn main() {}
