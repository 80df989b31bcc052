use flow_runtime::prelude::*;

#[node(writes(net, gross))]
fn price() -> (u64, u64) { (2, 3) }

flow! {
    Shop() -> (paid: u64) {
        node price: price { net -> paid, gross -> paid }; //~
        start >> price >> end;
    }
}

fn main() {}
