use flow_runtime::prelude::*;

#[node(writes(net, gross))]
fn price() -> (u64, u64) { (2, 3) }

flow! {
    Shop() -> (gross: u64) {
        node price: price { net -> gross }; //~
        start >> price >> end;
    }
}

fn main() {}
