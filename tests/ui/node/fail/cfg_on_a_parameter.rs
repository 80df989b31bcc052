use flow_runtime::prelude::*;

#[node]
fn total(number: &u64, #[cfg(any())] more: &u64) -> u64 { *number } //~

#[derive(Default)]
struct Total;

#[node]
impl Total {
    fn exec(&self, #[cfg_attr(all(), doc = "The first.")] number: &u64) -> u64 { *number } //~
}

flow! { Adding(number: u64) -> (total: u64) { start >> total >> end; } }

fn main() {}
