use flow_agents::tools;
use flow_runtime::prelude::*;

#[derive(serde::Deserialize)]
struct Filter { _year: u16 }

#[node]
fn search(_topic: &str, _filter: &Filter) -> String { String::new() }

fn main() {
    let _ = tools![search]; //~
}
