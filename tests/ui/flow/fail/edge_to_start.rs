use flow_runtime::prelude::*;

#[derive(Action)]
enum Paid { Yes, No }
#[node(actions = Paid)]
fn pay() -> Paid { Paid::Yes }

flow! {
    Order() {
        start >> pay;
        pay - "yes" >> end;
        pay - "no" >> start; //~
    }
}

fn main() {}
