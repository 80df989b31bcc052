use flow_runtime::prelude::*;

#[node]
async fn fetch(cx: Context, url: &str) -> String { //~
    format!("{url}, attempt {}", cx.attempt())
}

flow! {
    Fetch(url: String) -> (fetch: String) { start >> fetch >> end; }
}

fn main() {}
