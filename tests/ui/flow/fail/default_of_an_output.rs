use flow_runtime::prelude::*;

#[node]
fn page(title: &str) -> String { title.to_owned() }

flow! {
    Page(title: String) -> (page: String = String::new()) { //~
        start >> page >> end;
    }
}

fn main() {}
