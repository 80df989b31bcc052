use flow_runtime::prelude::*;

#[node(writes = title, body)] //~
fn split(text: &str) -> (String, String) { (text.to_owned(), String::new()) }

fn main() {}
