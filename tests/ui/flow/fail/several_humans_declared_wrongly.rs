use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(human = "Deploy {version}?")]
#[derive(Serialize, Deserialize)]
enum Approval { Yes, No }

#[node]
fn check(_version: &u8) {}

flow! { F(version: u8) {
    node a: Approval; //~
    node b: Approval = Approval::Yes; //~
    node c: human Approval = Approval::No; //~
    node d: human check; //~
    start >> a - "yes" >> b - "yes" >> c - "yes" >> d >> end;
    a - "no" >> end; b - "no" >> end; c - "no" >> end;
} }
fn main() {}
