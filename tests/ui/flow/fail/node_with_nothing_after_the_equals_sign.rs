use flow_runtime::prelude::*;

#[derive(Default)]
struct Pay;
#[node]
impl Pay {
    fn exec(&self) {}
}

flow! {
    Order() {
        node pay: Pay = ; //~
        start >> pay >> end;
    }
}

fn main() {}
