use flow_runtime::prelude::*;

fn is_slow(error: &NodeError) -> bool {
    error.is_timeout()
}

#[node(retry(attempts = 3, if = is_slow), timeout = "1s")] //~
async fn load() -> String {
    "a page".to_owned()
}

fn main() {
    let _ = is_slow;
}
