// The fields of a variant are written, so that the question itself adds nothing.
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(human = "Deploy?", writes = +answers)] //~
#[derive(Serialize, Deserialize)]
enum Approval { Yes { why: String }, No }

fn main() {}
