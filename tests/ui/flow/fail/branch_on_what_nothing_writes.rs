use flow_runtime::prelude::*;

flow! {
    Age() {
        branch grown(age) { *age >= 18 => "yes", else => "no" } //~
        start >> grown;
        grown - "yes" >> end;
        grown - "no" >> end("young");
    }
}

fn main() {}
