use flow_runtime::prelude::*;

#[node]
fn show(error: &str) { let _ = error; }

flow! {
    Show(error: String) { //~
        start >> show >> end;
    }
}

fn main() {}
