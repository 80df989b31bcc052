use flow_runtime::prelude::*;

#[node(retry(attempts = 3, if = |error| error.kind() == std::io::ErrorKind::TimedOut))] //~
fn load() -> std::io::Result<String> {
    std::fs::read_to_string("page")
}

fn main() {}
