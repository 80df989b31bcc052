#![expect(
    dead_code,
    unused_imports,
    non_upper_case_globals,
    non_camel_case_types,
    reason = "the names are those of variables, and nothing uses them"
)]
use flow_runtime::prelude::*;

mod taken {
    pub static state: u8 = 0;
    pub static input: u8 = 0;
    pub static engine: u8 = 0;
    pub static scope: u8 = 0;
    pub const item: u8 = 0;
    pub const index: u8 = 0;
    pub const action: u8 = 0;
    pub const route: u8 = 0;
    pub const f: u8 = 0;
    pub struct value;
    pub struct cx;
    pub struct outcome;
    pub struct usize;
    pub struct SPEC;
}
use taken::*;
#[node(retry(attempts = 2))] async fn ask(claim: &u64) -> Result<u64, std::io::Error> { Ok(*claim) }
#[node] fn list(ask: &u64) -> Vec<u64> { vec![*ask] }
#[derive(Debug, Clone, Default)] struct Sum { by: u64 }
#[node] impl Sum { fn exec(&self, all: &[u64]) -> u64 { all.iter().sum::<u64>() + self.by } }
flow! { Inner(claim: u64) -> (ask: u64) { start >> ask >> end; } }
flow! { Outer(claim: u64, more: Option<u64>, less: u64 = 3) -> (sum: u64, less: u64, more: Option<u64>) {
    node all: for claim in list { Inner } with concurrency(2);
    node sum: Sum;
    branch big(claim) { *claim > 3 => "big", else => "small" }
    start >> big - "small" >> ask >> [list, rest] >> all >> sum >> end;
    big - "big" >> ask;
} }
#[node] fn rest(claim: &u64) { let _ = claim; }

fn main() { println!("{:?}", OuterInput::builder().claim(1).build()); }
