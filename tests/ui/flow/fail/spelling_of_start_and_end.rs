use flow_runtime::prelude::*;

#[node]
fn notify() {}

flow! { Label() { start >> notify >> end "done"; } } //~
flow! { Capitals() { start >> notify >> END; } } //~
flow! { Capital() { Start >> notify >> end; } } //~

fn main() {}
