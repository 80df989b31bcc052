use flow_runtime::prelude::*;
use std::error::Error;
#[node]
fn load(name: &str) -> std::io::Result<String> { std::fs::read_to_string(name) }

#[derive(Default)]
struct Explain;
#[node]
impl Explain { fn exec(&self, error: &Box<dyn Error>) { eprintln!("{error}"); } }
flow! {
    Load(name: String) -> (load: Option<String>) {
        start >> load >> end;
        load - "error" >> Explain >> end("failed"); //~
    }
}

fn main() {}
