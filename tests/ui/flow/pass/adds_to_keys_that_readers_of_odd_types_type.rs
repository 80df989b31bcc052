// The types of the keys come from readers that are flows, or whose types are in modules of the standard library.
#![deny(warnings)]
use std::collections::BTreeMap;

use flow_runtime::prelude::*;

#[node(writes(+lengths, +names))]
fn ask(question: &str) -> ((String, usize), String) { ((question.to_owned(), question.len()), question.to_owned()) }
#[node]
fn longest(lengths: &BTreeMap<String, usize>) -> usize { lengths.values().copied().max().unwrap_or(0) }
#[node]
fn join(names: &[String]) -> String { names.join(" ") }
flow! { Names(names: Vec<String>) -> (join: String) { start >> join >> end; } }

flow! {
    Chat(question: String) -> (longest: usize, join: String) {
        start >> ask >> longest >> Names >> end;
    }
}

fn main() {}
