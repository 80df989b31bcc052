use flow_runtime::prelude::*;

#[node]
fn plain(number: &u64) -> u64 { *number }
#[node]
fn one(item: &u64) -> u64 { *item }
#[derive(Default)] struct Total;
#[node]
impl Total { fn exec(&self, plain: &u64) -> u64 { *plain } }

flow! {
    Adding(numbers: Vec<u64>, number: u64) -> (total: u64) {
        node plain: plain with timeout = "1s"; //~
        node total: Total with timeout = "1s", retry(attempts = 2); //~
        node each: for item in numbers { one } with timeout = "1s"; //~
        start >> plain >> each >> total >> end;
    }
}
fn main() {}
