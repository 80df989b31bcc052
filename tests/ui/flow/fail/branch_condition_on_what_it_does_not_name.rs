use flow_runtime::prelude::*;

flow! {
    Age(limit: u64) {
        branch grown(limit) { age >= *limit => "yes", else => "no" } //~
        start >> grown;
        grown - "yes" >> end;
        grown - "no" >> end("young");
    }
}

fn main() {}
