use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node]
fn price(item: &str) -> u64 { item.len() as u64 }

#[node(human = "Is {prise} too much?")] //~
#[derive(Serialize, Deserialize)]
struct Answer;

flow! {
    Shop(item: String) -> (answer: Answer) {
        start >> price >> Answer >> end;
    }
}

fn main() {}
