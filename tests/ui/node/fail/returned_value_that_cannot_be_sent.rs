use std::rc::Rc;
use flow_runtime::prelude::*;

#[node]
fn text(path: &str) -> Rc<str> { path.into() } //~
#[node(writes(first, rest))]
fn split(text: Rc<str>) -> (u64, Vec<Rc<str>>) { (1, vec![text]) } //~
#[node(writes = length)]
async fn length(rest: &[Rc<str>], first: u64) -> Result<u64, String> { Ok(rest.len() as u64 + first) }

flow! { Lines(path: String) -> (length: u64) { start >> text >> split >> length >> end; } }

async fn run(input: LinesInput) -> Result<LinesOutput, FlowError> { Lines::new().run(input).await }
fn main() { let _ = run; }
