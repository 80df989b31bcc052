use flow_runtime::prelude::*;

flow! {
    Age(age: u64) {
        branch grown(age) { *age >= 18 => "yes", else => "no" }
        start >> grown;
        grown - "yes" >> end;
        grown - "no" >> grown; //~
    }
}

fn main() {}
