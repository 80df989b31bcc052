//! Types, compared by their spelling.

use super::notation::report_types;
use crate::check_types;
use crate::graph::{Graph, Input, Node, NodeKind, NodeRead, ReadMode};

#[test]
fn equal_types_in_other_words() {
    let flow = "
        in a : std::string::String
        in b : Vec<crate::Item>
        in c : _
        node x a : str b : [Item] c : u8 a : String
        node y a : _ writes a : String
    ";
    let expected = r#""#;
    assert_eq!(report_types(flow), expected);
}

#[test]
fn different_types() {
    let flow = "
        in a : String
        out b : u8
        node x a : u64
        node y writes b : u16
        node z writes b : u32
    ";
    let expected = r#"output b: the output `b` is declared as `u8`, but what `y` writes is `u16` [F008]
help: declare it as `b: u16`
see node y: `b` is `u16` here

node x: `x` reads `a` as `u64`, but the input is `String` [F008]
help: read the type that is written, or map the read to another key
see input a: `a` is `String` here

node z: `z` writes `b` as `u32`, but what `y` writes is `u16` [F009]
help: write one type, or another key: `b -> b_2`
see node y: `b` is `u16` here"#;
    assert_eq!(report_types(flow), expected);
}

/// Rust code may read what a type dereferences to, such as the target of a reference or a `Cow`.
/// The `Option` that a node returned is read as its content if the reader allows it to be missing.
#[test]
fn a_reader_sees_through_references_and_options() {
    for (written, read) in [
        ("&'static str", "str"),
        ("&str", "str"),
        ("Cow<'static, str>", "str"),
        ("std::borrow::Cow<'a, [u8]>", "[u8]"),
        ("&'static [u8]", "[u8]"),
    ] {
        assert!(agree(written, read, false), "{written} as {read}");
    }
    assert!(agree("Option<String>", "str", true));
    assert!(!agree("Option<String>", "str", false));
    assert!(!agree("&'static str", "u8", false));
}

/// Returns true if a node may read an input of the type `written` as `read`.
fn agree(written: &str, read: &str, optional: bool) -> bool {
    let input = Input {
        key: "a".to_owned(),
        optional: false,
        rust_type: written.to_owned(),
    };
    let read = NodeRead {
        key: "a".to_owned(),
        mode: ReadMode::Borrow,
        optional,
        rust_type: read.to_owned(),
    };
    let node = Node {
        name: "x".to_owned(),
        kind: NodeKind::Step,
        reads: vec![read],
        actions: Vec::new(),
        fallible: false,
    };
    let graph = Graph {
        inputs: vec![input],
        nodes: vec![node],
        ..Graph::default()
    };
    check_types(&graph).is_empty()
}
