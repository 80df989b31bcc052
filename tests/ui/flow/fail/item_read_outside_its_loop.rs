use flow_runtime::prelude::*;

#[node]
fn summarize(chunk: &str) -> String { chunk.into() }
#[node]
fn show(chunk: &str) { let _ = chunk; }

flow! {
    Summary(chunks: Vec<String>) {
        node summaries: for chunk in chunks { summarize };
        start >> summaries >> show >> end; //~
    }
}

fn main() {}
