// CF-04, PF-42
use flow_runtime::prelude::*;

#[node]
fn draft() {}
#[node]
fn illustrate() {}
#[node]
fn print_it() {}

flow! {
    Book() {
        start >> draft;
        draft >> illustrate >> end;
        draft >> print_it >> end; //~
    }
}

fn main() {}
