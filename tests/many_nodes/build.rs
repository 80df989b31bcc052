//! Writes the source of flows of many different nodes, which nobody would write by hand.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

const NODES: u32 = 600;
/// The nodes of a flow that goes round, and to which of them it goes back.
const ROUND: u32 = 100;
const BACK_TO: u32 = 20;

fn main() {
    println!("cargo::rerun-if-changed=many_nodes/build.rs");
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("many_nodes.rs"), source()).expect("OUT_DIR can be written");
}

/// Node `n` adds `n`; every third one is a type, and the others are functions.
fn source() -> String {
    let mut source = format!(
        "const NODES: u64 = {NODES};\nconst ROUND: u64 = {ROUND};\nconst BACK_TO: u64 = {BACK_TO};\n"
    );
    let mut chain = String::from("start");
    let (mut round, mut back_to) = (String::new(), String::new());
    for number in 1..=NODES {
        let (name, item) = match number % 3 {
            0 => (format!("Node{number}"), type_node(number)),
            1 => (format!("node{number}"), function_node(number, "async fn")),
            _ => (format!("node{number}"), function_node(number, "fn")),
        };
        source.push_str(&item);
        write!(chain, " >> {name}").expect("a String can be written");
        if number == ROUND {
            round = chain.clone();
        }
        if number == BACK_TO {
            back_to = name;
        }
    }
    write!(
        source,
        "flow! {{\n    ManyNodes(total: u64) -> (total: u64) {{\n        {chain} >> end;\n    }}\n}}\n\
         flow! {{\n    ManyRounds(total: u64) -> (total: u64) {{\n        \
         branch round(total) {{ *total < 10_000 => \"again\", else => \"done\" }}\n        \
         {round} >> round;\n        round - \"again\" >> {back_to};\n        round - \"done\" >> end;\n    }}\n}}\n"
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
