use std::cell::Cell;
use flow_runtime::prelude::*;

#[node(writes = cell)]
fn count(start: u32) -> Cell<u32> { Cell::new(start) }
#[node(writes = text)]
async fn show(cell: &Cell<u32>) -> String { cell.get().to_string() } //~

flow! { Count(start: u32) -> (text: String) { start >> count >> show >> end; } }

async fn run(input: CountInput) -> Result<CountOutput, FlowError> { Count::new().run(input).await }
fn main() { let _ = run; }
