use flow_runtime::prelude::*;

#[node]
fn end() {} //~
#[node]
async fn wait(text: &str) -> String { text.to_owned() } //~

fn main() {}
