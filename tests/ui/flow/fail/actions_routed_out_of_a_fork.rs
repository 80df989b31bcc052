use flow_runtime::prelude::*;

#[derive(Action)]
enum Credit { Granted, Refused }

#[node]
fn reserve() {}
#[node(actions = Credit)]
fn check(limit: &u64) -> Credit { if *limit > 0 { Credit::Granted } else { Credit::Refused } }

flow! {
    Order(limit: u64) {
        start >> [reserve, check]; //~
        check - "granted" >> end;
        check - "refused" >> end("refused");
    }
}

fn main() {}
