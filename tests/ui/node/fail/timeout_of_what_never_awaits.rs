use flow_runtime::prelude::*;

#[node(timeout = "50ms")] //~
fn plain(number: &u64) -> u64 { *number }

#[derive(Default)]
struct Total;

#[node(retry(attempts = 2), timeout = "1s")] //~
impl Total {
    fn exec(&self, plain: &u64) -> Result<u64, String> { Ok(*plain) }
}

flow! { Adding(number: u64) -> (total: u64) { start >> plain >> Total >> end; } }

fn main() {}
