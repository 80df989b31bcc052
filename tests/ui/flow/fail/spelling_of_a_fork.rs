use flow_runtime::prelude::*;

#[node]
fn notify() {}

flow! { Parentheses() { start >> (notify | notify) >> end; } } //~
flow! { Pipe() { start >> notify | notify >> end; } } //~
flow! { Plus() { start >> notify + notify >> end; } } //~
flow! { Block() { start >> { notify } >> end; } } //~

fn main() {}
