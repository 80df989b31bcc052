use flow_runtime::prelude::*;

flow! { Wildcard(n: u64) { branch b(n) { *n > 1 => "more", _ => "less" } start >> b - "more" >> end; b - "less" >> end; } } //~
flow! { ToEnd(n: u64) { branch b(n) { *n > 1 => "more", else => end } start >> b - "more" >> end; } } //~

fn main() {}
