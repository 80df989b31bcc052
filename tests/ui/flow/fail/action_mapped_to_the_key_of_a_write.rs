use flow_runtime::prelude::*;

#[derive(Action)]
enum Found { Cheap { price: u64 }, Nothing }
#[node(actions = Found, writes = seen)]
fn search() -> (u64, Found) { (1, Found::Nothing) }

flow! {
    Shop() -> (seen: u64) {
        node search: search { price -> seen }; //~
        start >> search;
        search - "cheap" >> end;
        search - "nothing" >> end;
    }
}

fn main() {}
