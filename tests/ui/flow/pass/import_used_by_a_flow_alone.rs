#![deny(warnings)]
mod steps { use flow_runtime::prelude::*; #[node] pub(crate) fn pay() -> u64 { 3 } }
use flow_runtime::prelude::*;
use steps::pay;
flow! { Payment() -> (pay: u64) { start >> pay >> end; } }

fn main() {}
