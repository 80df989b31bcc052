use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(human = "Deploy?")]
#[derive(Serialize, Deserialize)]
enum Approval { Timeout }

flow! {
    Release() {
        node second: human Approval with retry(attempts = 2), timeout = "2h"; //~ //~
        start >> second - "timeout" >> end;
    }
}

fn main() {}
