use flow_runtime::prelude::*;

#[derive(Default)]
struct Pay;

#[node]
impl Pay {
    fn exec(&self) -> Result<u64, String> { Ok(3) }
    fn exec_fallback(&self) -> String { String::new() } //~
}

fn main() {}
