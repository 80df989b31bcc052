use flow_runtime::prelude::*;

#[node]
async fn quote() -> u32 { 1 }
#[node]
fn order(quote: &u32) { let _ = quote; }

flow! {
    Shop() {
        node price: quote with was = "quote" timeout = "5s"; //~
        start >> price >> order >> end;
    }
}

fn main() {}
