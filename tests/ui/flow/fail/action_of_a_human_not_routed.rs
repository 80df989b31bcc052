use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(human = "Deploy?")]
#[derive(Serialize, Deserialize)]
enum Approval { Yes, No }

flow! {
    Release() {
        start >> Approval; //~
        Approval - "yes" >> end;
    }
}

fn main() {}
