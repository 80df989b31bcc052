use flow_runtime::prelude::*;

#[node]
fn pay<T>( //~
    (net, tip): (u64, u64), //~
    names: &mut Vec<T>, //~
    total: impl Into<u64>, //~
) -> &'static mut u64 {
    let _ = (net, tip, names, total.into());
    panic!()
}

fn main() {}
