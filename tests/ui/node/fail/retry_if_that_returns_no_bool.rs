use flow_runtime::prelude::*;

fn kind(error: &std::io::Error) -> std::io::ErrorKind {
    error.kind()
}

#[node(retry(attempts = 3, if = kind))] //~
fn load() -> std::io::Result<String> {
    std::fs::read_to_string("page")
}

fn main() {}
