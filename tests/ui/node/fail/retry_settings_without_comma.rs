use flow_runtime::prelude::*;

#[node(
    retry(attempts = 3 wait = "1s"), //~
    poll(every = "1s" timeout = "1m"), //~
)]
fn pay() -> Result<Option<u64>, String> { Ok(Some(3)) }

fn main() {}
