use flow_runtime::prelude::*;

#[derive(Action)]
enum Which { X, Y }
#[node(actions = Which)]
fn pick(which: &u32) -> Which { if *which == 0 { Which::X } else { Which::Y } }
#[node(writes = f)]
fn x() -> u32 { 1 }
#[node(writes = value)]
fn y(f: Option<u32>) -> u32 { f.unwrap_or_default() }
flow! {
    Inner(which: u32) -> (f: Option<u32>, value: Option<u32>) {
        start >> pick - "x" >> x >> end("ALL");
        pick - "y" >> y >> end("NAMES");
    }
}
flow! { Outer(which: u32) -> (f: Option<u32>) { start >> Inner - "ALL" >> end; Inner - "NAMES" >> end; } }

fn main() { println!("{:?} {:?}", InnerInput { which: 0 }, InnerEnd::NAMES); }
