#![deny(warnings)]
use flow_runtime::prelude::*;

#[node]
fn draw(topic: &str) -> u64 { topic.len() as u64 }
#[node]
fn draft(topic: &str) -> String { topic.into() }
#[node]
fn publish(draw: &u64, draft: String) -> String { format!("{draft}{draw}") }
flow! {
    Book(topic: String) -> (publish: String) {
        start >> [draw, draft] >> publish >> end;
    }
}

fn main() {}
