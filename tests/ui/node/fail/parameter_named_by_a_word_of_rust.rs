use flow_runtime::prelude::*;

#[node]
fn describe(type: &str, size: &u32) -> String { //~
    format!("{size}")
}

flow! {
    Describe(kind: String, size: u32) -> (describe: String) { start >> describe >> end; }
}

fn main() {}
