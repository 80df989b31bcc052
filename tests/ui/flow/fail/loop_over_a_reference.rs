use flow_runtime::prelude::*;

#[node]
fn shorten(chapter: &str) -> String { chapter.chars().take(9).collect() }

flow! {
    Book(chapters: Vec<String>) -> (short: Vec<String>) {
        node short: for chapter in &chapters { shorten }; //~
        start >> short >> end;
    }
}

fn main() {}
