use flow_runtime::prelude::*;

#[derive(Default)]
pub struct Ask;
#[node(writes = said)]
impl Ask {
    pub fn perp(&self, text: &str) -> String { format!("prepared {text}") } //~
    pub fn exec(&self, text: &str) -> String { text.to_owned() }
}

fn main() {}
