use flow_runtime::prelude::*;

#[node(writes = text)]
async fn fast() -> String { String::new() }

#[node(writes = text)]
async fn slow() -> u64 { 1 }

flow! {
    Order() -> (text: String) {
        node text: first { fast, slow }; //~
        start >> text >> end;
    }
}

fn main() {}
