use flow_runtime::prelude::*;

#[derive(Action)]
enum Paid { Yes, No }

#[node(actions = Paid)]
fn pay() -> Paid { Paid::Yes }

flow! {
    Payment() {
        start >> pay;
        pay - "yes" >> end;
        pay - "no" >> end("unpaid");
    }
}

flow! { Order() { start >> Payment >> end; } } //~

fn main() {}
