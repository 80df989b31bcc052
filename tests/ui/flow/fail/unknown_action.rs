// CF-02
use flow_runtime::prelude::*;

#[derive(Action)]
enum Progress { Completed, Stuck }

#[node(actions = Progress)]
fn work() -> Progress { Progress::Completed }

flow! {
    Job() {
        start >> work;
        work - "complete" >> end; //~
        work - "stuck" >> end("stuck");
    }
}

fn main() {}
