use flow_runtime::prelude::*;

#[node]
fn page(limit: &usize, title: &str) -> String { title.chars().take(*limit).collect() }

flow! {
    Page(limit: usize = , title: String) -> (page: String) { //~
        start >> page >> end;
    }
}

fn main() {}
