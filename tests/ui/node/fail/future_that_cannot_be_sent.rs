use flow_runtime::prelude::*;

use std::rc::Rc;

#[node]
async fn pay() -> u64 { //~
    let amount = Rc::new(3);
    std::future::ready(()).await;
    *amount
}

flow! {
    Payment() -> (pay: u64) {
        start >> pay >> end;
    }
}

fn main() {}
