use flow_runtime::prelude::*;

#[derive(Action)]
struct Verdict; //~

fn main() {}
