use flow_runtime::prelude::*;

#[node]
fn show<T: ToString>(value: &T) -> String { value.to_string() } //~

fn main() {}
