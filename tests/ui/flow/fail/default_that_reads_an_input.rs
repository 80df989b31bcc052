use flow_runtime::prelude::*;

#[node]
fn page(title: &str, limit: &usize) -> String { title.chars().take(*limit).collect() }

flow! {
    Page(title: String, limit: usize = title.len()) -> (page: String) { //~
        start >> page >> end;
    }
}

fn main() {}
