#![deny(warnings)]
use flow_runtime::prelude::*;

#[node(writes(a, b, c))]
fn letters() -> (u8, u16, u32) { (1, 2, 3) }
#[node]
fn forwards(a: &u8, b: u16, c: Option<&u32>) -> u32 { u32::from(*a) + u32::from(b) + c.map_or(0, |c| *c) }
#[node]
fn backwards(c: &u32, b: Option<u16>, a: u8) -> u32 { c + b.map_or(0, u32::from) + u32::from(a) }
flow! {
    Letters() -> (forwards: u32, backwards: u32) {
        start >> letters >> forwards >> backwards >> end;
    }
}

fn main() {}
