use flow_runtime::prelude::*;

#[node(writes = [subject, body])] //~
fn compose(topic: &str) -> (String, String) { (topic.to_owned(), topic.to_owned()) }

flow! { Mail(topic: String) -> (body: String) { start >> compose >> end; } }

fn main() {}
