use flow_runtime::prelude::*;

#[node]
fn undo() {} //~

#[node]
fn commit() {} //~

fn main() {}
