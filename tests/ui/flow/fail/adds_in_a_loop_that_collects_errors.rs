// The loop adds its results, so that there are none among which errors could stand.
use flow_runtime::prelude::*;

#[node(writes = +texts)]
async fn load(path: &str) -> std::io::Result<String> { std::fs::read_to_string(path) }

flow! {
    Load(paths: Vec<String>) -> (texts: Vec<String>) {
        node loaded: for path in paths { load } with collect_errors; //~
        start >> loaded >> end;
    }
}

fn main() {}
