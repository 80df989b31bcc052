use flow_runtime::{prelude::*, testing::Scripted};

#[node(writes = total)]
fn add(a: &u64, b: &u64) -> u64 { a + b }

flow! {
    Sum(a: u64, b: u64) -> (total: u64) {
        start >> add >> end;
    }
}

fn main() {
    let _ = Scripted::new().node::<Sum>(|_| 7); //~
    let _ = Scripted::strict().real::<String>(); //~
}
