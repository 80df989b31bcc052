#![deny(warnings)]
use flow_runtime::prelude::*;

fn main() {
    #[derive(Action)]
    enum Parity { Even, Odd }
    #[node(actions = Parity)]
    fn parity(number: &u64) -> Parity { if number % 2 == 0 { Parity::Even } else { Parity::Odd } }
    flow! {
        Number(number: u64) {
            start >> parity;
            parity - "even" >> end("even");
            parity - "odd" >> end("odd");
        }
    }
    assert_eq!(Number::ROUTES.len(), 3);
}
