use flow_runtime::prelude::*;

struct Pay;

#[node]
impl Pay {
    fn exec(&self) {}
}

flow! {
    Payment() {
        node pay: Pay;
        start >> pay >> end;
    }
}

fn main() {
    Payment::builder().pay(Pay).pay(Pay).build(); //~
}
