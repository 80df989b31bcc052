#![deny(warnings)]
use flow_runtime::prelude::*;

#[derive(Default)]
struct Pay { fee: u64 }
#[node(writes = paid, retry(attempts = 2, wait = "1ms", backoff = 2, max_wait = "1s", jitter = 0.5), timeout = "1s")]
impl Pay {
    fn prep(&self, amount: &u64) -> Result<u64, String> { Ok(self.total(*amount)) }
    async fn exec(&self, cx: &Context, total: u64) -> Result<u64, String> { Ok(total + u64::from(cx.attempt())) }
    fn exec_fallback(&self, prep_res: u64, error: &NodeError) -> Result<u64, String> { Err(format!("{prep_res}{error}")) }
    async fn post(&self, prep_res: &u64, exec_res: u64, tip: Option<u64>) -> u64 { prep_res + exec_res + tip.unwrap_or(0) }
    fn total(&self, amount: u64) -> u64 { amount + self.fee }
}
flow! { Payment(amount: u64, tip: Option<u64>) -> (paid: u64) { start >> Pay >> end; } }

fn main() {}
