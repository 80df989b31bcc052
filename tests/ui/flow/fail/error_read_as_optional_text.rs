use flow_runtime::prelude::*;

#[node]
fn load(name: &str) -> std::io::Result<String> { std::fs::read_to_string(name) }

#[node]
fn explain(error: Option<&str>) { eprintln!("{error:?}"); }

flow! {
    Load(name: String) -> (load: Option<String>) {
        start >> load >> end;
        load - "error" >> explain >> end("failed"); //~
    }
}

fn main() {}
