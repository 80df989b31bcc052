use flow_runtime::prelude::*;

flow! {} //~

fn main() {}
