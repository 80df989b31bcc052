use flow_agents::tools;
use flow_runtime::prelude::*;

struct Page;

#[node]
fn search(_topic: &str) -> Vec<Page> { Vec::new() }

fn main() {
    let _ = tools![search]; //~
}
