use flow_runtime::prelude::*;
use flow_runtime::{Export, ExportOptions};

#[node]
fn answer() -> u8 {
    1
}

flow! { Broken() -> (answer: u8) { start >> answer; } } //~
flow! { Around() -> (answer: u8) { start >> Broken >> end; } }

fn main() {
    println!("{}", Broken::SPEC);
    println!("{}", Around::SPEC);
    Broken::new().export(ExportOptions::default());
    Around::new().export(ExportOptions::default());
}
