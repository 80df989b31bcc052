use flow_loader::registry;
use flow_runtime::prelude::*;

#[node]
fn draft() -> String { String::new() }

fn main() {
    let _ = registry![#[cfg(any())] draft]; //~
}
