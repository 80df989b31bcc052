use flow_runtime::prelude::*;

#[node]
fn count(r#type: &str) -> usize { r#type.len() }

flow! {
    Count(type: String) -> (count: usize) { //~
        start >> count >> end;
    }
}

fn main() {}
