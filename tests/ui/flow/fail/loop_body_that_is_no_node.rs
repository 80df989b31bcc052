use flow_runtime::prelude::*;

flow! {
    Summary(chunks: Vec<String>) -> (summaries: Vec<String>) {
        node summaries: for chunk in chunks { summarize }; //~
        start >> summaries >> end;
    }
}

fn main() {}
