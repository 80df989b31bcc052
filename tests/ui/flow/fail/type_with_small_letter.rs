use flow_runtime::prelude::*;

#[allow(non_camel_case_types)]
#[derive(Default)]
struct pay;
#[node]
impl pay {
    fn exec(&self) {}
}

flow! {
    Payment() {
        start >> pay >> end; //~
    }
}

fn main() {}
