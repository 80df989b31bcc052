use flow_runtime::prelude::*;

#[node]
fn r#for() {} //~

flow! {
    Payment() {
        start >> r#for >> end;
    }
}

fn main() {}
