use flow_runtime::prelude::*;

#[node]
fn notify() {}

flow! { struct Item() { start >> notify >> end; } } //~
flow! { async fn Function() { start >> notify >> end; } } //~
flow! { First() { start >> notify >> end; } Second() { start >> notify >> end; } } //~

fn main() {}
