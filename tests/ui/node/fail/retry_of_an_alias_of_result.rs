use flow_runtime::prelude::*;

type Fallible<T> = Result<T, std::io::Error>;

#[node(retry(attempts = 2))] //~
fn load(file: &str) -> Fallible<String> { std::fs::read_to_string(file) }

fn main() {}
