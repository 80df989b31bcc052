use flow_runtime::prelude::*;

#[node]
fn plan() {}
#[node]
fn write() {}

flow! { Call() { add_edge("plan", "write"); start >> plan >> write >> end; } } //~
flow! { Line() { start --> plan --> write --> end; } } //~
flow! { Settings() { node other: plan with timeout = "3s" { a <- b }; start >> other >> end; } } //~

fn main() {}
