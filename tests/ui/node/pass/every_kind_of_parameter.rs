#![deny(warnings)]
use flow_runtime::prelude::*;

#[derive(Clone)]
pub struct Big;
#[node(retry(attempts = 2))]
async fn read(
    _cx: &Context, text: &str, list: &[u64], big: Big, mut number: u64, maybe: Option<&Big>, note: Option<&str>,
    owned: Option<Big>, path: &std::path::Path, boxed: &(dyn Fn() -> u64 + Send + Sync),
) -> Result<u64, std::io::Error> {
    let _ = (text, list, big, maybe, note, owned, path);
    number += boxed();
    Ok(number)
}

fn main() {}
