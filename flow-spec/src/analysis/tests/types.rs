//! Types, compared by their spelling.

use super::notation::report_types;
use crate::graph::{Graph, Input, Node, NodeId, NodeKind, NodeRead, ReadMode};
use crate::{Compared, check_types};

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
    let expected = r#"output b: the output `b` is declared as `u8`, but `y` writes it as `u16` [F008]
help: declare it as `b: u16`
see node y: `b` is `u16` here

node x: `x` reads `a` as `u64`, but the input is `String` [F008]
help: read the type that is written, or map the read to another key
see input a: `a` is `String` here

node z: `z` writes `b` as `u32`, but `y` writes it as `u16` [F009]
help: a key has one type: let one of them write another key, such as by a mapping `{ b -> b_2 }`
see node y: `b` is `u16` here"#;
    assert_eq!(report_types(flow), expected);
}

/// The compiler compares other types, whose names do not show that they are not `NodeError`.
#[test]
fn a_reader_that_agrees_with_another_writer_is_the_same_mistake() {
    let flow = |read: &str| {
        format!(
            "
            in amount : String
            node parse amount : str writes amount : u64
            node pay amount : {read}
            "
        )
    };
    let writer = r#"node parse: `parse` writes `amount` as `u64`, but the input is `String` [F009]
help: a key has one type: let one of them write another key, such as by a mapping `{ amount -> amount_2 }`
see input amount: `amount` is `String` here"#;
    assert_eq!(report_types(&flow("u64")), writer);
    let reader = r#"node pay: `pay` reads `amount` as `u16`, but the input is `String` [F008]"#;
    let both = report_types(&flow("u16"));
    assert!(both.contains(writer) && both.contains(reader), "{both}");
}

#[test]
fn an_error_read_as_another_type() {
    let standard = |read: &str| {
        let flow = format!("node a!\nnode b error : {read}\nstart >> a\na - error >> b");
        let graph = super::notation::graph(&flow);
        let found = check_types(&graph, Compared::Standard);
        assert!(check_types(&graph, Compared::Named).is_empty());
        found.into_iter().map(|one| one.message).collect::<Vec<_>>()
    };
    let text = ["`b` reads `error` as `&str`, but it is a `NodeError`"];
    assert_eq!(standard("str"), text);
    for right in [
        "NodeError",
        "flow_runtime::NodeError",
        "MyError",
        "_",
        "dyn std::error::Error",
    ] {
        assert_eq!(standard(right), [""; 0], "{right}");
    }
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
    assert!(agree("Box<String>", "str", false));
    assert!(agree("Arc<Box<Vec<u8>>>", "[u8]", false));
    assert!(!agree("Arc<Box<Vec<u8>>>", "[u16]", false));
    assert!(agree("Option<String>", "str", true));
    assert!(agree("Option<String>", "Option<String>", true));
    assert!(agree("Option<Option<u8>>", "Option<u8>", true));
    assert!(!agree("u8", "Option<u8>", true));
    assert!(!agree("Option<u8>", "Option<u16>", true));
    assert!(!agree("Option<String>", "str", false));
    assert!(!agree("&'static str", "u8", false));
}

/// Where a compiler compares all types, only those are compared whose names mean the same
/// everywhere.
#[test]
fn standard_types_only() {
    for (written, read, agree) in [
        ("u64", "str", false),
        ("std::string::String", "str", true),
        ("Vec<String>", "[u64]", false),
        ("Vec<[u8; 4]>", "[[u8; 5]]", false),
        ("Price", "u64", true),
        ("Vec<Price>", "[u64]", true),
        ("Duration", "u64", true),
        ("&'static str", "u64", true),
        ("T", "String", true),
        ("impl Into<String>", "String", true),
        ("Vec<u64>", "Vec", true),
        ("Vec<u64>", "[Option]", true),
        ("Vec<u64>", "HashMap<Vec, u8>", true),
        ("Vec<u64>", "Option<Vec<u8>>", false),
        ("std::time::Duration", "u64", false),
        ("std::fmt::Error", "std::io::Error", true),
        ("Vec<Result<u64, NodeError>>", "[u64]", false),
        (
            "Vec<Result<u64, NodeError>>",
            "[Result<u64, std::fmt::Error>]",
            false,
        ),
        (
            "Vec<Result<u64, NodeError>>",
            "[Result<u64, NodeError>]",
            true,
        ),
        // The error of an alias is not known.
        ("Vec<Result<u64, NodeError>>", "[Result<u64>]", true),
        (
            "Vec<Result<(u64, u8), NodeError>>",
            "[Result<(u64, u8)>]",
            true,
        ),
        ("Vec<Result<u64, NodeError>>", "[Result<u64, Mine>]", true),
    ] {
        let graph = reader(written, read, false);
        let found = check_types(&graph, Compared::Standard);
        assert_eq!(found.is_empty(), agree, "{written} as {read}: {found:?}");
    }
}

#[test]
fn a_type_is_shown_as_rust_reads_it() {
    let said = |written, read, optional| {
        let found = check_types(&reader(written, read, optional), Compared::Standard);
        found.iter().map(ToString::to_string).collect::<String>()
    };
    insta::assert_snapshot!(said("u64", "str", false), @r#"
    `x` reads `a` as `&str`, but the input is `u64` [F008]
    help: read it as `&u64`, or map the read to another key: `{ a <- other }`
    "#);
    insta::assert_snapshot!(said("u64", "str", true), @r#"
    `x` reads `a` as `Option<&str>`, but the input is `u64` [F008]
    help: read it as `Option<&u64>`, or map the read to another key: `{ a <- other }`
    "#);
}

#[test]
fn items_have_the_type_that_their_collection_holds() {
    let graph = |collection: &str| {
        let input = Input {
            key: "numbers".to_owned(),
            optional: false,
            rust_type: collection.to_owned(),
        };
        let step = |name: &str, kind, key: &str, rust_type: &str| Node {
            name: name.to_owned(),
            kind,
            reads: vec![read(key, rust_type, false)],
            actions: Vec::new(),
            fallible: false,
            undo: None,
            was: None,
        };
        let each = NodeKind::Each {
            body: NodeId(1),
            item: "number".to_owned(),
            writes: Vec::new(),
        };
        Graph {
            inputs: vec![input],
            nodes: vec![
                step("all", each, "numbers", ""),
                step("all.double", NodeKind::Step, "number", "u64"),
            ],
            ..Graph::default()
        }
    };
    let said = |collection: &str| {
        let found = check_types(&graph(collection), Compared::Standard);
        found.iter().map(ToString::to_string).collect::<String>()
    };
    insta::assert_snapshot!(said("Vec<String>"), @r#"
    `all.double` reads `number` as `&u64`, but an item of `numbers` is `String` [F008]
    help: read it as `&str`, or map the read to another key: `{ number <- other }`
    "#);
    assert_eq!(said("Vec<u64>"), "");
    assert_eq!(said("BTreeSet<u64>"), "");
    // Which of the two is the item is not for us to say.
    assert_eq!(said("HashMap<String, u64>"), "");
}

/// Whether a node may read an input of the type `written` as `read`.
fn agree(written: &str, read: &str, optional: bool) -> bool {
    check_types(&reader(written, read, optional), Compared::Named).is_empty()
}

/// A node that reads an input of the type `written` as `read`.
fn reader(written: &str, rust_type: &str, optional: bool) -> Graph {
    let input = Input {
        key: "a".to_owned(),
        optional: false,
        rust_type: written.to_owned(),
    };
    let node = Node {
        name: "x".to_owned(),
        kind: NodeKind::Step,
        reads: vec![read("a", rust_type, optional)],
        actions: Vec::new(),
        fallible: false,
        undo: None,
        was: None,
    };
    Graph {
        inputs: vec![input],
        nodes: vec![node],
        ..Graph::default()
    }
}

fn read(key: &str, rust_type: &str, optional: bool) -> NodeRead {
    NodeRead {
        key: key.to_owned(),
        mode: ReadMode::Borrow,
        optional,
        rust_type: rust_type.to_owned(),
        mapped: false,
    }
}
