use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Approved, Rejected }

#[node(actions = Verdict)]
async fn review() -> Verdict { Verdict::Approved }

flow! {
    Order() {
        node outcome: first { review, wait(2d) => "late" };
        start >> outcome - "late" >> end;
        outcome - "rejected" >> end;
        review - "approved" >> end; //~
    }
}

fn main() {}
