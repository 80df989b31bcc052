use flow_runtime::prelude::*;

#[node]
fn miles(route: &str) -> u64 { route.len() as u64 }
#[node]
fn kilometres(miles: &u64) -> u64 { miles * 8 / 5 }

flow! {
    Distance(route: String) -> (kilometres: u64) {
        start
            >> miles;
            >> kilometres //~
            >> end;
    }
}

fn main() {}
