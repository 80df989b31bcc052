use flow_runtime::prelude::*;

#[node(writes = log)]
fn note(log: &mut Vec<String>, topic: &str) { log.push(topic.to_owned()); } //~

fn main() {}
