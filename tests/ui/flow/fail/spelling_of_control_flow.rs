use flow_runtime::prelude::*;

#[node]
fn notify() {}

flow! { If(ok: bool) { start >> notify; if ok { notify >> end } else { end } notify >> end; } } //~
flow! { Match(ok: bool) { start >> notify; match ok { _ => end } notify >> end; } } //~
flow! { For(items: Vec<u64>) { for item in items { notify } start >> notify >> end; } } //~
flow! { While() { while true { notify } start >> notify >> end; } } //~
flow! { Return() { start >> notify >> end; return; } } //~

fn main() {}
