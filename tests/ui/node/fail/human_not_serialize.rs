use flow_runtime::prelude::*;

#[node(human = "Deploy?")]
enum Approval { //~
    Yes,
    No,
}

fn main() {}
