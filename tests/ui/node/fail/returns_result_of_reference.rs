use flow_runtime::prelude::*;

#[node]
fn first(names: &[String]) -> Result<&str, String> { Ok(&names[0]) } //~

fn main() {}
