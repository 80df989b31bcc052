use flow_runtime::prelude::*;

#[node]
fn quote() -> u32 { 1 }
#[node]
fn order(quote: &u32) { let _ = quote; }

flow! {
    Shop() {
        node price: quote with was = "order"; //~
        start >> price >> order >> end;
    }
}

fn main() {}
