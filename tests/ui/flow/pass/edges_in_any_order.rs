#![deny(warnings)]
use flow_runtime::prelude::*;
#[derive(Action)]
enum Verdict { Approved, Rejected }
#[node(actions = Verdict)]
fn review() -> Verdict { Verdict::Approved }
#[node]
fn pay() -> u64 { 3 }
flow! {
    Approval() -> (paid: Option<u64>) {
        review - "rejected" >> end("rejected");
        pay >> end;
        node pay: pay { pay -> paid };
        review - "approved" >> pay;
        start >> review;
        namespace "office.approval";
    }
}
fn main() {}
