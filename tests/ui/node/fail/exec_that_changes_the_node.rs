// CF-08, PF-27
use flow_runtime::prelude::*;

#[derive(Default)]
struct Count(u64);

#[node]
impl Count {
    fn exec(&mut self) -> u64 { //~
        self.0 += 1;
        self.0
    }
}

fn main() {}
