use flow_runtime::prelude::*;

#[derive(Action)]
enum Next { Parse, Skip }

#[node(actions = Next)]
fn look() -> Next {
    Next::Skip
}

flow! {
    Read() {
        start >> look;
        look - "prase" >> end("parsed"); //~
        look - "skip" >> end;
    }
}

fn main() {}
