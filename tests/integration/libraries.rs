//! The flow of another crate, some of whose nodes only that crate can name.

use flow_loader::{Format, load};
use flow_runtime::Flow as _;
use flow_tests_library::{Desk, Lookup, registry};
use serde_json::json;

fn book() -> Lookup {
    Lookup::new([("rust", "a language")])
}

#[tokio::test]
async fn a_library_registers_its_private_nodes_itself() {
    let loaded = load(Desk::SPEC, Format::Json, &registry(book())).unwrap();
    for (question, answer, end) in [
        (
            "what is rust?",
            "what is rust? It is a language.",
            "default",
        ),
        (
            "what is go?",
            "what is go? Sorry: no entry for `go`.",
            "not_found",
        ),
        ("who?", "who? Nobody knows.", "default"),
    ] {
        let output = loaded.run(json!({ "question": question })).await.unwrap();
        assert_eq!(output, json!({ "answer": answer, "end": end }));
    }
}

flow_law::law! {
    nodes: [],
    flows: [
        Desk(Desk::builder().book(book()).build()) {
            inputs: [json!({ "question": "what is rust?" }), json!({ "question": "what is go?" })],
        },
    ],
    registries: [registry(book())],
}
