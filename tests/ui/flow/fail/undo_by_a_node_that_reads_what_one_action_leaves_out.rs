use flow_runtime::prelude::*;

#[derive(Action)]
enum Paid { Charged { receipt: String }, Declined }
#[node(actions = Paid)]
fn charge() -> Paid { Paid::Declined }
#[node]
fn refund(receipt: &str) { let _ = receipt; }

flow! {
    Order() {
        node pay: charge with undo = refund; //~
        start >> pay - "charged" >> end;
        pay - "declined" >> undo >> end("declined");
    }
}

fn main() {}
