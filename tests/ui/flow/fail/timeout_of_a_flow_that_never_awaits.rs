use flow_runtime::prelude::*;

#[node]
fn length(text: &str) -> usize { text.len() }

flow! { Length(text: String) -> (length: usize) { start >> length >> end; } }
flow! { Around(text: String) -> (length: usize) { start >> Length >> end; } }
flow! {
    Sum(text: String, texts: Vec<String>) -> (length: usize, each: Vec<usize>, all: Vec<usize>) {
        node inner: Around with timeout = "1s"; //~
        node each: for text in texts { Length } with timeout = "1s"; //~
        node one: Length;
        node all: for text in texts { one } with timeout = "1s"; //~
        start >> inner >> each >> all >> end;
    }
}
fn main() {}
