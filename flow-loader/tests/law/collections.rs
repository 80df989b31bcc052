//! Loops over collections of other types than `Vec`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use flow_loader::registry;
use flow_runtime::prelude::*;
use serde_json::{Value, json};

use crate::support;

#[node]
fn line(entry: (u32, String)) -> String {
    format!("{}={}", entry.0, entry.1)
}

#[node]
fn entry_of(entry: &(u32, String)) -> usize {
    entry.1.len()
}

#[node]
fn index(words: &[String]) -> BTreeMap<u32, String> {
    (1..).zip(words.iter().cloned()).collect()
}

flow! {
    Entry(entry: (u32, String)) -> (entry_of: usize) {
        start >> entry_of >> end;
    }
}

flow! {
    Maps(map: BTreeMap<u32, String>, words: Vec<String>)
        -> (given: Vec<String>, made: Vec<String>, flows: Vec<usize>) {
        node given: for entry in map { line };
        node made: for entry in index { line };
        node flows: for entry in map { Entry };
        start >> given >> index >> made >> flows >> end;
    }
}
law!(entries_of_maps: Maps::new(), Maps, registry![line, entry_of, index], [
    json!({ "map": { "10": "ten", "9": "nine" }, "words": ["a", "b"] }),
    json!({ "map": {}, "words": [] }),
]);

#[node]
fn shout(word: &str) -> String {
    word.to_uppercase()
}

/// It is not in the flow: it tells the registry of the types.
#[node]
fn sizes(set: &BTreeSet<String>, pair: &[String; 2]) -> usize {
    set.len() + pair.len()
}

flow! {
    Words(set: BTreeSet<String>, pair: [String; 2], queue: VecDeque<String>, boxed: Box<[String]>)
        -> (of_set: Vec<String>, of_pair: Vec<String>, of_queue: Vec<String>, of_box: Vec<String>) {
        node of_set: for word in set { shout };
        node of_pair: for word in pair { shout };
        node of_queue: for word in queue { shout };
        node of_box: for word in boxed { shout };
        start >> of_set >> of_pair >> of_queue >> of_box >> end;
    }
}
law!(items_of_other_collections: Words::new(), Words, registry![shout, sizes], [
    json!({ "set": ["b", "a", "b"], "pair": ["x", "y"], "queue": ["q"], "boxed": ["c", "c"] }),
    json!({ "set": [], "pair": ["x"], "queue": [], "boxed": [] }),
]);

#[node]
fn count(boxed: Box<[String]>) -> usize {
    boxed.into_vec().len()
}

flow! {
    Counted(boxed: Box<[String]>) -> (shouted: Vec<String>, count: usize) {
        node shouted: for word in boxed { shout };
        start >> shouted >> count >> end;
    }
}
law!(a_node_reads_the_collection_too: Counted::new(), Counted, registry![shout, count], [
    json!({ "boxed": ["c", "d"] }),
]);
