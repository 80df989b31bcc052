use flow_agents::tools;
use flow_runtime::prelude::*;

struct Filter;

#[node]
fn search(_filters: Vec<Filter>, _near: Option<Filter>) -> String { String::new() }

fn main() {
    let _ = tools![search]; //~
}
