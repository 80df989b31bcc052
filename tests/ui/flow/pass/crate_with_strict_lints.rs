#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, rust_2018_idioms, unused, clippy::all, clippy::pedantic)]
#![deny(missing_debug_implementations, missing_copy_implementations, unused_qualifications, unnameable_types)]
//! A crate whose author wants to hear of everything.
use flow_runtime::prelude::*;
/// What to do next.
#[derive(Debug, Clone, Copy, Action)]
pub enum Next { /** Goes on. */ On { /** How far. */ far: u64 }, /** Stops. */ Stop }
fn is_late(error: &str) -> bool { error == "late" }
/// Asks.
#[node(actions = Next, retry(attempts = 2, if = is_late), timeout = "3s")]
pub async fn ask(question: &str) -> Result<Next, String> { Ok(Next::On { far: question.len() as u64 }) }
flow! {
    /// Asks once.
    pub Asking(question: String) -> (far: Option<u64>) {
        start >> ask;
        ask - "on" >> end; ask - "stop" >> end("stopped"); ask - "error" >> end("failed");
    }
}
fn main() {}
