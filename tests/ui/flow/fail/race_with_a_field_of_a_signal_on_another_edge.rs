use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(signal)]
#[derive(Serialize, Deserialize)]
struct CancelRequest { reason: String }

#[node]
fn tell(reason: &str) { let _ = reason; }

flow! {
    Order() {
        node next: first { CancelRequest => "stop", wait(2d) => "late" };
        start >> next - "stop" >> tell >> end;
        next - "late" >> tell; //~
    }
}
fn main() {}
