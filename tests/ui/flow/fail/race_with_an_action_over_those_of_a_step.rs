use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Approved, Rejected }

#[node(actions = Verdict)]
async fn review() -> Verdict { Verdict::Approved }

flow! {
    Order() {
        node outcome: first { review => "reviewed", wait(2d) => "late" }; //~
        start >> outcome - "reviewed" >> end;
        outcome - "late" >> end("late");
    }
}

fn main() {}
