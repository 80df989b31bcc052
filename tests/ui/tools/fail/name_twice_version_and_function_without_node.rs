use flow_agents::tools;
use flow_runtime::prelude::*;

mod web {
    #[flow_runtime::node]
    pub fn search() {}
}

#[node]
fn search() {}
fn convert() {}

fn main() {
    convert();
    let _ = tools![search, web::search]; //~
    let _ = tools![search @ "1.0.0"]; //~
    let _ = tools![convert]; //~
}
