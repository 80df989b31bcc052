#![deny(warnings)]
use flow_runtime::prelude::*;

#[deprecated]
#[node]
pub fn old(n: &u64) -> u64 { *n }
#[node(retry(attempts = 2))]
#[deprecated(note = "use `one`")]
pub async fn older(n: &u64) -> Result<u64, std::io::Error> { Ok(*n) }
#[derive(Debug, Default)]
pub struct Half;
#[node]
impl Half {
    #[deprecated]
    pub fn exec(&self, n: &u64) -> u64 { *n }
}

fn main() {}
