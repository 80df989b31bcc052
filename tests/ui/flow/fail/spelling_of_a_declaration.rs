use flow_runtime::prelude::*;

#[node]
fn notify() {}

flow! { Let() { let other = notify; start >> other >> end; } } //~
flow! { Function() { fn other() {} start >> notify >> end; } } //~
flow! { Settings(items: Vec<u64>) { node all: for item in items with concurrency = 2 { notify }; start >> all >> end; } } //~
flow! { Attribute() { #[cfg(test)] start >> notify >> end; } } //~
flow! { Comment() { start >> notify; /** a comment */ notify >> end; } } //~
flow! { Comments() {
    start >> notify; # the first //~
    notify >> end;
} }

fn main() {}
