use flow_runtime::prelude::*;

#[node]
fn page(limit: Option<&usize>) -> usize { *limit.unwrap_or(&1) }

flow! {
    Page(limit: Option<usize> = Some(10)) -> (page: Option<usize>) { //~
        start >> page >> end;
    }
}

fn main() {}
