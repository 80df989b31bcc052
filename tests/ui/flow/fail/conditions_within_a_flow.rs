use flow_runtime::prelude::*;
#[node]
fn total(number: &u64) -> u64 { *number }
flow! {
    Adding(#[cfg_attr(all(), doc = "The first.")] number: u64) -> (#[cfg(any())] total: u64) { //~ //~
        #[cfg(any())] //~
        node again: total;
        branch is_large(number) { #[cfg(any())] *number > 9 => "large", else => "small" } //~
        start >> is_large;
        #[cfg_attr(any(), cfg(any()))] //~
        is_large - "large" >> #[cfg(all())] total; //~
        is_large - "small" >> [#[cfg(all())] total]; //~
        total >> end;
    }
}
fn main() {}
