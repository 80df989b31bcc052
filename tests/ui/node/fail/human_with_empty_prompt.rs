use flow_runtime::prelude::*;

#[node(human = "")] //~
struct Answer;

fn main() {}
