use flow_runtime::prelude::*;

#[node(writes = amount)]
fn estimate(amount: &u64) -> String {
    amount.to_string()
}

flow! {
    Approval(amount: u64) {
        start >> estimate >> end; //~
    }
}

fn main() {}
