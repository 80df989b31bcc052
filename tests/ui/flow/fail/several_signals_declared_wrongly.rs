use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(signal)]
#[derive(Serialize, Deserialize)]
struct CancelRequest { reason: String }

#[node(human = "Deploy?")]
#[derive(Serialize, Deserialize)]
enum Approval { Yes }
#[node]
fn check() {}
flow! { F() {
    node a: human CancelRequest; node b: signal Approval; //~ //~
    node c: signal check; //~
    node d: signal CancelRequest = CancelRequest { reason: String::new() }; //~
    start >> a >> b - "yes" >> c >> d >> end;
} }
fn main() {}
