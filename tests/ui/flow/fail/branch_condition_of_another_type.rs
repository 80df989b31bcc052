use flow_runtime::prelude::*;

flow! {
    Age(age: u64) {
        branch grown(age) { *age => "yes", else => "no" } //~
        start >> grown;
        grown - "yes" >> end;
        grown - "no" >> end("young");
    }
}

fn main() {}
