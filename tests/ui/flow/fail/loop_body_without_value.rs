use flow_runtime::prelude::*;

struct Times(u64);
#[node]
impl Times {
    fn exec(&self, number: &u64) -> u64 { self.0 * number }
}

flow! {
    Products(numbers: Vec<u64>) -> (products: Vec<u64>) {
        node products: for number in numbers { Times }; //~
        start >> products >> end;
    }
}

fn main() {}
