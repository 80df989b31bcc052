use flow_runtime::prelude::*;

macro_rules! text { () => { "What it does." } }

#[doc = text!()] //~
#[node]
fn total(#[doc = concat!("The ", text!())] number: &u64) -> u64 { *number } //~

flow! {
    Adding(#[doc = text!()] number: u64) -> (total: u64) { start >> total >> end; } //~
}

fn main() {}
