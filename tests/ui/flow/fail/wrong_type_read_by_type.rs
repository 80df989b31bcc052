use flow_runtime::prelude::*;

#[derive(Default)]
struct Show;

#[node]
impl Show {
    fn exec(&self, price: &str) {
        let _ = price;
    }
}

flow! {
    Shop(price: u64) {
        start >> Show >> end; //~
    }
}

fn main() {}
