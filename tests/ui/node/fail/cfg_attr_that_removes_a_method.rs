use flow_runtime::prelude::*;

#[derive(Default)]
struct Total;

#[node]
impl Total {
    #[cfg_attr(all(), cfg(any()))] //~
    fn prep(&self, number: &u64) -> u64 { *number }

    fn exec(&self, number: &u64) -> u64 { *number }
}

fn main() {}
