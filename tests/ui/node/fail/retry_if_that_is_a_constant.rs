use flow_runtime::prelude::*;

const ALWAYS: bool = true;

#[node(retry(attempts = 3, if = ALWAYS))] //~
fn load() -> std::io::Result<String> {
    std::fs::read_to_string("page")
}

fn main() {}
