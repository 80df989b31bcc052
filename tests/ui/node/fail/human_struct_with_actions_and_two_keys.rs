use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Action)]
enum Verdict { Good, Bad }

#[node(human = "Deploy?", actions = Verdict, writes(a, b))] //~ //~
#[derive(Serialize, Deserialize)]
struct Price(u8, u8);

fn main() {}
