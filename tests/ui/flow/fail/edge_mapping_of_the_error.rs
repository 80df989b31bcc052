use flow_runtime::prelude::*;

#[node(writes = problem)]
fn find() -> String { String::new() }
#[node]
fn log(error: Option<&NodeError>) { let _ = error; }

flow! {
    Logged() {
        start >> find >> log { error <- problem } >> end; //~
    }
}

fn main() {}
