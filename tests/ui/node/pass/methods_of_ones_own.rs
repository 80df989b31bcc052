#![deny(warnings)]
use flow_runtime::prelude::*;

#[derive(Default)]
pub struct Shop;

#[node]
impl Shop {
    fn exec(&self, price: &u64) -> u64 { self.poste(*price) + self.cost() }
    fn poste(&self, price: u64) -> u64 { price }
    fn cost(&self) -> u64 { 1 }
    pub fn preps(&self) -> u64 { 2 }
    pub fn execute(&self) -> u64 { 3 }
    pub fn fall(&self) -> u64 { 4 }
}

fn main() {
    assert_eq!(Shop.preps() + Shop.execute() + Shop.fall(), 9);
}
