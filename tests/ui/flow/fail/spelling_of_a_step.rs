use flow_runtime::prelude::*;

#[node]
fn notify() {}

flow! { Quoted() { start >> "notify" >> end; } } //~
flow! { Sentence() { start >> "notify them" >> end; } } //~
flow! { Closure() { start >> |x| x + 1 >> end; } } //~
flow! { Async() { start >> async { 1 } >> end; } } //~
flow! { Sleep() { start >> sleep(5s) >> notify >> end; } } //~
flow! { Delay() { start >> delay(seconds) >> notify >> end; } } //~
flow! { Call() { start >> notify() >> end; } } //~
flow! { Line() { start -> notify -> end; } } //~

fn main() {}
