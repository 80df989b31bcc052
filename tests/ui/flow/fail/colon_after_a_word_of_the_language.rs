use flow_runtime::prelude::*;

#[node]
fn load() {}

flow! {
    Import() {
        namespace: "shop.import"; //~
        start: load; //~
        load >> end;
    }
}

fn main() {}
