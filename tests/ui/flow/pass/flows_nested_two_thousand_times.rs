// The documents of these flows are long, and rustc is to put them together in no time.
use flow_runtime::prelude::*;

#[node(writes = x)]
async fn add(x: &u8) -> u8 {
    *x + 1
}

flow! { F0(x: u8) -> (x: u8) { start >> add >> end; } }
flow! { F1(x: u8) -> (x: u8) { node a: F0; node b: F0; start >> a >> add >> b >> end; } }
flow! { F2(x: u8) -> (x: u8) { node a: F1; node b: F1; start >> a >> add >> b >> end; } }
flow! { F3(x: u8) -> (x: u8) { node a: F2; node b: F2; start >> a >> add >> b >> end; } }
flow! { F4(x: u8) -> (x: u8) { node a: F3; node b: F3; start >> a >> add >> b >> end; } }
flow! { F5(x: u8) -> (x: u8) { node a: F4; node b: F4; start >> a >> add >> b >> end; } }
flow! { F6(x: u8) -> (x: u8) { node a: F5; node b: F5; start >> a >> add >> b >> end; } }
flow! { F7(x: u8) -> (x: u8) { node a: F6; node b: F6; start >> a >> add >> b >> end; } }
flow! { F8(x: u8) -> (x: u8) { node a: F7; node b: F7; start >> a >> add >> b >> end; } }
flow! { F9(x: u8) -> (x: u8) { node a: F8; node b: F8; start >> a >> add >> b >> end; } }
flow! { F10(x: u8) -> (x: u8) { node a: F9; node b: F9; start >> a >> add >> b >> end; } }
flow! { F11(x: u8) -> (x: u8) { node a: F10; node b: F10; start >> a >> add >> b >> end; } }

fn main() {}
