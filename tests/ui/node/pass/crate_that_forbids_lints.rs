#![forbid(unsafe_code, unused, nonstandard_style, deprecated, missing_debug_implementations)]
#![forbid(non_camel_case_types, non_snake_case, unused_imports, unused_qualifications, unreachable_code)]
use flow_runtime::prelude::*;

#[derive(Debug, Action)]
pub enum Next { On { far: u64 }, Stop }
#[node(actions = Next)]
pub async fn ask(_cx: &Context, question: &str) -> Result<Next, std::io::Error> {
    Ok(if question.is_empty() { Next::Stop } else { Next::On { far: 3 } })
}
#[derive(Debug, Default, Clone, Copy)]
pub struct Twice;
#[node]
impl Twice { pub fn exec(&self, far: &u64) -> u64 { far * 2 } }
flow! { pub Asks(question: String) -> (twice: Option<u64>) {
    start >> ask - "on" >> Twice >> end; ask - "stop" >> end("stopped"); ask - "error" >> end("failed"); } }

fn main() { let _ = Asks::builder().build(); }
