// An edge gives a key its value, and cannot add to it.
use flow_runtime::prelude::*;

#[node]
fn note() -> String { "begun".to_owned() }
#[node]
fn show(log: &[String]) -> usize { log.len() }

flow! {
    Notes(log: Vec<String>) -> (show: usize) {
        start >> note >> show { log <- +note } >> end; //~
    }
}

fn main() {}
