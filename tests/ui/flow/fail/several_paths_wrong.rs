use flow_runtime::prelude::*;

#[derive(Action)]
enum Next { On { amount: u64 }, Back }
#[node(actions = Next)]
fn ask() -> Next { Next::Back }
#[node]
fn pay(amount: &u64) { let _ = amount; }
#[node]
fn idle() {}
flow! {
    Shop() -> (amount: u64) {
        start >> ask;
        ask - "on" >> idle >> idle; //~
        ask - "back" >> pay >> end; //~ //~
    }
}

fn main() {}
