#![deny(warnings)]
use flow_runtime::prelude::*;

flow! {
    Age(age: u64, limit: u64) {
        branch grown(age, limit) { age >= limit => "yes", *age == 0 => "no", else => "no" }
        start >> wait(5ms) >> grown;
        grown - "yes" >> end;
        grown - "no" >> end("young");
    }
}

fn main() {}
