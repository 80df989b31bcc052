use flow_runtime::prelude::*;

#[node]
fn fetch(url: &str) -> Result<String, String> { Ok(url.to_owned()) }

flow! {
    Fetch(url: String, urls: Vec<String>) -> (fetch: String, pages: Vec<String>) {
        node page: fetch with retry(attempts = 3) timeout = "1s"; //~
        node pages: for url in urls { fetch } with concurrency(4) retry(attempts = 2); //~
        start >> page >> pages >> end;
    }
}

fn main() {}
