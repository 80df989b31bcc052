//! Writes the source of the flows, which nobody would write by hand: the same for ever for the same seed.

#[path = "generator/mod.rs"]
mod generator;

use std::path::Path;
use std::{env, fs};

/// How many flows there are. More of them find more, and take longer to compile.
const FLOWS: u64 = 64;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=generator");
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    let source = generator::source(FLOWS);
    fs::write(Path::new(&out).join("flows.rs"), source).expect("OUT_DIR can be written");
}
