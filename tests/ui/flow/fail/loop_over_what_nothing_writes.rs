use flow_runtime::prelude::*;

#[node]
fn summarize(chunk: &str) -> String { chunk.into() }

flow! {
    Summary() -> (summaries: Vec<String>) {
        node summaries: for chunk in chunks { summarize }; //~
        start >> summaries >> end;
    }
}

fn main() {}
