use flow_runtime::prelude::*;

#[derive(Default)]
struct Client;

#[node(writes = text)]
impl Client {
    fn exec(&self, topic: &str) -> String { topic.to_owned() }
}

#[node(writes = length)]
impl Client { //~
    fn exec(&self, text: &str) -> usize { text.len() }
}

flow! { Essay(topic: String) -> (text: String) { start >> Client >> end; } }

fn main() {}
