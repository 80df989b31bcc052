use flow_runtime::prelude::*;

#[node]
fn quote() -> u32 { 1 }

flow! {
    Shop() {
        branch is_large(quote) { quote > 5 => "yes", else => "no" } with was = "is_big"; //~
        start >> quote >> is_large;
        is_large - "yes" >> end("large");
        is_large - "no" >> end;
    }
}

fn main() {}
