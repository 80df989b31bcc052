use flow_runtime::prelude::*;

flow! {
    Order() {
        start >> |order| order >> end; //~
    }
}

fn main() {}
