use flow_runtime::prelude::*;

struct Pay(u64);
#[node]
impl Pay {
    fn exec(&self) -> u64 { self.0 }
}

flow! {
    Payment() -> (pay: u64) {
        node pay: Pay = 3; //~
        start >> pay >> end;
    }
}

fn main() {}
