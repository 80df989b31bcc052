use flow_runtime::prelude::*;

#[node]
fn pack(item: &u32) { let _ = item; }

flow! {
    Shop(items: Vec<u32>) {
        node wrap: pack with was = "pack"; //~
        node parcels: for item in items { wrap };
        start >> parcels >> end;
    }
}

fn main() {}
