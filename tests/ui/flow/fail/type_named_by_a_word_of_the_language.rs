use flow_runtime::prelude::*;

#[derive(Default)]
struct Wait;
#[node]
impl Wait {
    fn exec(&self) {}
}

flow! {
    Payment() {
        start >> Wait >> end; //~
    }
}

fn main() {}
