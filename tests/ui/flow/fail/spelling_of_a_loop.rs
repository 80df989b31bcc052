use flow_runtime::prelude::*;

#[node]
fn double(n: &u64) -> u64 { 2 * n }

flow! { InAnEdge(all: Vec<u64>) { start >> for n in all { double } >> end; } } //~
flow! { Range() -> (doubled: Vec<u64>) { node doubled: for n in 0..3 { double }; start >> doubled >> end; } } //~
flow! { Method(all: Vec<u64>) -> (doubled: Vec<u64>) { node doubled: for n in all.iter() { double }; start >> doubled >> end; } } //~
flow! { Value(all: Vec<u64>) -> (doubled: Vec<u64>) { node doubled: for n in all { Double { by: 2 } }; start >> doubled >> end; } } //~

fn main() {}
