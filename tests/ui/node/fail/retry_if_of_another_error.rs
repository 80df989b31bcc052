use flow_runtime::prelude::*;

fn is_busy(status: &u16) -> bool {
    *status == 503
}

#[node(retry(attempts = 3, if = is_busy))] //~
async fn load(path: &str) -> std::io::Result<String> {
    std::fs::read_to_string(path)
}

fn main() {}
