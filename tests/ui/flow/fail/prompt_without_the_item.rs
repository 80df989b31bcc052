use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(human = "Grade?")]
#[derive(Serialize, Deserialize)]
struct Grade(u8);

flow! {
    Class(names: Vec<String>) -> (grades: Vec<Grade>) {
        node grades: for name in names { Grade }; //~
        start >> grades >> end;
    }
}

fn main() {}
