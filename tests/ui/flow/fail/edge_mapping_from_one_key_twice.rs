use flow_runtime::prelude::*;

#[node]
fn compare(left: &str, right: &str) { let _ = (left, right); }

flow! {
    Compared(text: String) {
        start >> compare { left <- text, right <- text } >> end; //~
    }
}

fn main() {}
