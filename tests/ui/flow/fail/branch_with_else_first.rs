use flow_runtime::prelude::*;

flow! {
    Age(age: u64) {
        branch grown(age) { else => "no", *age >= 18 => "yes" } //~
        start >> grown;
        grown - "yes" >> end;
        grown - "no" >> end("young");
    }
}

fn main() {}
