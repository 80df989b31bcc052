use flow_runtime::prelude::*;

#[node]
fn load(url: &str) -> String { url.to_owned() }

flow! {
    Loading(urls: Vec<String>) -> (load: Vec<String>) { //~
        node pages: for url in urls { load };
        start >> pages >> end;
    }
}

fn main() {}
