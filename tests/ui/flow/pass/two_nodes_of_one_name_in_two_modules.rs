#![deny(warnings)]
mod cash { use flow_runtime::prelude::*; #[node(writes = paid)] pub(crate) fn pay() -> u64 { 1 } }
mod card { use flow_runtime::prelude::*; #[node(writes = paid)] pub(crate) fn pay(paid: &u64) -> u64 { paid + 1 } }
use flow_runtime::prelude::*;
flow! {
    Payment() -> (paid: u64) {
        node by_card: card::pay;
        start >> cash::pay >> by_card >> end;
    }
}

fn main() {}
