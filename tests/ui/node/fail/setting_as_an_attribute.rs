use flow_runtime::prelude::*;

#[node(writes = rate)]
#[retry(attempts = 3, wait = "50ms")] //~
#[timeout = "5s"] //~
async fn fetch(currency: &str) -> Result<u64, String> { Ok(currency.len() as u64) }

flow! {
    Exchange(currency: String) -> (rate: u64) { start >> fetch >> end; }
}

fn main() {}
