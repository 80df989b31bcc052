use flow_agents::tools;
use flow_runtime::prelude::*;

#[derive(Default)]
struct Search;
#[node]
impl Search { fn exec(&self) {} }
#[node]
fn search() {}
#[node]
fn größe() {}

fn main() {
    let _ = tools![search, Search]; //~
    let _ = tools![größe]; //~
}
