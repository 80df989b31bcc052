use flow_runtime::prelude::*;

#[node]
fn page(title: &str, limit: Option<&usize>) -> String { title.chars().take(*limit.unwrap_or(&10)).collect() }

flow! {
    Page(title: String, limit: usize = 10) -> (page: String) { //~
        start >> page >> end;
    }
}

fn main() {}
