use flow_runtime::prelude::*;

#[node]
fn review(text: &str) -> usize { text.len() }

flow! {
    Book(draft: String) -> (opinion: usize) {
        node review: review { draft <- text, opinion -> review }; //~ //~
        start >> review >> end;
    }
}

fn main() {}
