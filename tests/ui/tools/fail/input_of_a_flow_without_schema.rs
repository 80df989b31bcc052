use flow_agents::tools;
use flow_runtime::prelude::*;

#[derive(serde::Serialize, serde::Deserialize)]
struct Filter;

#[node]
fn search(_filter: &Filter) -> String { String::new() }

flow! {
    Find(filter: Filter) -> (search: String) { start >> search >> end; }
}

fn main() {
    let _ = tools![Find]; //~
}
