use flow_runtime::prelude::*;

pub struct Draft;
pub struct Page;

#[node]
fn write() -> Draft { Draft }

#[node(writes = write)]
fn publish(write: &Draft) -> Page { let Draft = write; Page }

flow! {
    Essay() -> (write: Draft) {
        start >> write >> publish >> end; //~
    }
}

fn main() {}
