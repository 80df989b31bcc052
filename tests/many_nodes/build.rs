//! Writes the source of a flow of many different nodes, which nobody would write by hand.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

const NODES: u32 = 600;

fn main() {
    println!("cargo::rerun-if-changed=many_nodes/build.rs");
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("many_nodes.rs"), source()).expect("OUT_DIR can be written");
}

/// Node `n` adds `n`; every third one is a type, and the others are functions.
fn source() -> String {
    let mut source = format!("const NODES: u64 = {NODES};\n");
    let mut chain = String::from("start");
    for number in 1..=NODES {
        let (name, item) = match number % 3 {
            0 => (format!("Node{number}"), type_node(number)),
            1 => (format!("node{number}"), function_node(number, "async fn")),
            _ => (format!("node{number}"), function_node(number, "fn")),
        };
        source.push_str(&item);
        write!(chain, " >> {name}").expect("a String can be written");
    }
    write!(
        source,
        "flow! {{\n    ManyNodes(total: u64) -> (total: u64) {{\n        {chain} >> end;\n    }}\n}}\n"
    )
    .expect("a String can be written");
    source
}

fn function_node(number: u32, keyword: &str) -> String {
    format!(
        "#[node(writes = total)]\n{keyword} node{number}(total: &u64) -> u64 {{\n    total + {number}\n}}\n"
    )
}

fn type_node(number: u32) -> String {
    format!(
        "#[derive(Default)]\nstruct Node{number};\n#[node(writes = total)]\nimpl Node{number} {{\n    \
         async fn exec(&self, total: u64) -> u64 {{\n        total + {number}\n    }}\n}}\n"
    )
}
