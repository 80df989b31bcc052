use flow_runtime::prelude::*;

#[node]
async fn charge() {}
#[node]
fn refund() {}

flow! {
    Order() {
        node paid: first { charge, wait(5s) => "late" } with undo = refund; //~
        start >> paid >> end;
        paid - "late" >> end("late");
    }
}

fn main() {}
