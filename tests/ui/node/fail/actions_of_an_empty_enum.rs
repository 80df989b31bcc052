use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict {} //~

fn main() {}
