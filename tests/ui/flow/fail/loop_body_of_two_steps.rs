use flow_runtime::prelude::*;

#[node]
fn clean(chunk: &str) -> String { chunk.into() }
#[node]
fn count(clean: &str) -> usize { clean.len() }

flow! {
    Summary(chunks: Vec<String>) -> (counts: Vec<usize>) {
        node counts: for chunk in chunks { clean >> count }; //~
        start >> counts >> end;
    }
}

fn main() {}
