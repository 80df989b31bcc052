use flow_runtime::prelude::*;

#[derive(Default)]
struct Total;

#[node]
impl Total {
    fn exec(&self, number: &u64) -> u64 { *number }

    #[cfg(any())] //~
    fn post(&self, exec_res: u64) -> u64 { exec_res }
}

flow! { Adding(number: u64) -> (total: u64) { start >> Total >> end; } }

fn main() {}
