use flow_runtime::prelude::*;

#[derive(Default)]
struct Check;

#[node]
impl Check {
    fn exec(&self) {}
}

flow! {
    Release() {
        node check: human Check; //~
        start >> check >> end;
    }
}

fn main() {}
