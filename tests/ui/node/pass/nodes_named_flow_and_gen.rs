#![deny(warnings)]
use flow_runtime::prelude::*;

#[node]
fn flow(n: &u64) -> u64 { *n }
#[node]
fn r#gen(flow: &u64) -> u64 { *flow }
#[derive(Default)]
struct MadeByItsBuilder;
#[node]
impl MadeByItsBuilder { fn exec(&self, r#gen: &u64) -> u64 { *r#gen } }
flow! { Runs(n: u64) -> (r#gen: u64, made_by_its_builder: u64) { start >> flow >> r#gen >> MadeByItsBuilder >> end; } }

fn main() { let _ = (Runs::new(), RunsInput::builder().n(1).build()); }
