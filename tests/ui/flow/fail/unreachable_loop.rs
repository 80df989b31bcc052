use flow_runtime::prelude::*;

#[derive(Action)]
enum Next { Again, Done }
#[node(actions = Next)]
fn check() -> Next { Next::Done }
#[node]
fn review() {}

flow! {
    Approval() {
        start >> review >> end;
        check - "again" >> check; //~
        check - "done" >> end("checked");
    }
}

fn main() {}
