//! Types, compared by their spelling.

use super::notation::report_types;

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
