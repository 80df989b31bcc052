use flow_runtime::prelude::*;

flow! {
    Entry(age: u32, guardian: bool) {
        branch door(age, guardian) {
            *age >= 12 and *guardian => "in", //~
            else => "out",
        }
        start >> door - "in" >> end;
        door - "out" >> end("out");
    }
}
flow! {
    Exit(age: u32) {
        branch door(age) { *age >= 12 or *age == 0 => "out", else => "in" } //~
        start >> door - "in" >> end;
    }
}
fn main() {}
