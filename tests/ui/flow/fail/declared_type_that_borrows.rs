use flow_runtime::prelude::*;

struct Prices<'a>(&'a [u64]);

#[node(writes = cents)]
impl Prices<'_> {
    fn exec(&self, article: usize) -> u64 { self.0[article] }
}

flow! {
    Offer(article: usize) -> (cents: u64) {
        node prices: Prices<'a>; //~
        start >> prices >> end;
    }
}

fn main() {}
