use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Approved, Rejected }

#[node(actions = Verdict)]
async fn review() -> Verdict { Verdict::Approved }

#[node]
fn pay() {}

flow! {
    Order() {
        node outcome: first { review >> pay, wait(2d) }; //~
        start >> outcome >> end;
    }
}

fn main() {}
