use flow_runtime::prelude::*;

#[node]
fn fetch() -> Result<u64, String> { Ok(3) }

#[node(writes = fetch)]
fn from_cache(err: &NodeError) -> u64 { err.attempts().into() }

flow! {
    Fetch() -> (fetch: u64) {
        start >> fetch >> end;
        fetch - "error" >> from_cache >> end; //~
    }
}

fn main() {}
