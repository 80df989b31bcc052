use flow_runtime::prelude::*;

#[node(signal)]
struct CancelRequest { reason: String } //~

flow! { Order() -> (reason: String) { start >> CancelRequest >> end; } }

fn main() {}
