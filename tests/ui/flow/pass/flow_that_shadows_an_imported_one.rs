#![deny(warnings)]
use flow_runtime::prelude::*;

#[node]
pub fn a() -> u32 { 1 }
flow! { pub Ask() -> (a: u32) { start >> a >> end; } }
mod changed {
    use super::*;
    flow! { pub Ask() -> (a: u32) { start >> a >> end("changed"); } }
    pub mod again {
        use super::*;
        flow! { pub Ask() -> (a: u32) { start >> a >> end("again"); } }
    }
}

fn main() { let _ = (Ask::new(), AskEnd::Default, changed::AskEnd::Changed, changed::again::AskEnd::Again); }
