use flow_durable::{MemoryStore, Runtime, RuntimeError};
use flow_runtime::prelude::*;
use std::collections::HashSet;

#[node(writes = tags)]
fn found(text: &str) -> HashSet<String> { text.split(' ').map(str::to_owned).collect() }

#[node]
fn length(tag: &str) -> usize { tag.len() }

flow! { Tagged(text: String) -> (lengths: Vec<usize>) {
    node lengths: for tag in tags { length };
    start >> found >> lengths >> end;
} }

fn register(runtime: &Runtime) -> Result<(), RuntimeError> { runtime.register(Tagged::new()) } //~

fn main() { drop(register(&Runtime::new(std::sync::Arc::new(MemoryStore::new())))) }
