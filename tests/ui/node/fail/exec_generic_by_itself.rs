use flow_runtime::prelude::*;

#[derive(Default)]
struct Show;

#[node]
impl Show {
    fn exec<T: ToString>(&self, value: &T) -> String { value.to_string() } //~
}

fn main() {}
