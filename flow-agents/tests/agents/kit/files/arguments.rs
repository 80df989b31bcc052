//! Arguments of a wrong shape, and patterns that cannot be read.

use serde_json::{Value, json};

use super::Place;

/// Calls that are refused, with what is said.
fn refused() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("fs_read", json!({}), "is missing"),
        ("fs_read", json!({ "path": null }), "invalid type: null"),
        ("fs_read", json!({ "path": 5 }), "invalid type: integer `5`"),
        (
            "fs_read",
            json!({ "path": ["notes.txt"] }),
            "invalid type: sequence",
        ),
        (
            "fs_read",
            json!({ "path": { "path": "notes.txt" } }),
            "invalid type: map",
        ),
        ("fs_read", json!({ "path": true }), "invalid type: boolean"),
        (
            "fs_read",
            json!(["notes.txt"]),
            "the arguments are not a JSON object",
        ),
        (
            "fs_read",
            json!("notes.txt"),
            "the arguments are not a JSON object",
        ),
        (
            "fs_read",
            json!({ "file": "notes.txt" }),
            "the tool has no argument `",
        ),
        (
            "fs_read",
            json!({ "path": "notes.txt", "root": "/" }),
            "the tool has no argument `",
        ),
        (
            "fs_read",
            json!({ "path": "notes.txt", "offset": 0 }),
            "`offset` is counted from 1",
        ),
        (
            "fs_read",
            json!({ "path": "notes.txt", "limit": 0 }),
            "`limit` is counted from 1",
        ),
        (
            "fs_read",
            json!({ "path": "notes.txt", "offset": -1 }),
            "invalid value: integer `-1`",
        ),
        (
            "fs_read",
            json!({ "path": "notes.txt", "offset": 1.5 }),
            "invalid type: floating point",
        ),
        (
            "fs_read",
            json!({ "path": "notes.txt", "offset": 1e300 }),
            "invalid type: floating",
        ),
        (
            "fs_read",
            json!({ "path": "notes.txt", "limit": 4_294_967_296_u64 }),
            "invalid value",
        ),
        (
            "fs_read",
            json!({ "path": "notes.txt", "limit": "all" }),
            "invalid type: string",
        ),
        ("fs_read", json!({ "path": "" }), "it is the folder itself"),
        ("fs_read", json!({ "path": "." }), "it is the folder itself"),
        (
            "fs_read",
            json!({ "path": "sub" }),
            "\"sub\" is a folder, and a file is needed",
        ),
        (
            "fs_read",
            json!({ "path": "notes.txt/more" }),
            "a part of it is not a folder",
        ),
        (
            "fs_read",
            json!({ "path": "missing.txt" }),
            "there is nothing at \"missing.txt\"",
        ),
        (
            "fs_read",
            json!({ "path": "image" }),
            "\"image\" is not text but binary: it has 6 bytes",
        ),
        (
            "fs_read",
            json!({ "path": "latin1" }),
            "\"latin1\" is not text but binary: it has 5 bytes",
        ),
        (
            "fs_ls",
            json!({ "path": "notes.txt" }),
            "is a file, and a folder is needed",
        ),
        (
            "fs_ls",
            json!({ "path": "missing" }),
            "there is nothing at \"missing\"",
        ),
        ("fs_ls", json!({ "path": false }), "invalid type: boolean"),
        ("fs_glob", json!({}), "is missing"),
        (
            "fs_glob",
            json!({ "pattern": "[" }),
            "the pattern \"[\" is refused",
        ),
        (
            "fs_glob",
            json!({ "pattern": "{a,b" }),
            "the pattern \"{a,b\" is refused",
        ),
        (
            "fs_glob",
            json!({ "pattern": "*", "path": "notes.txt" }),
            "a folder is needed",
        ),
        (
            "fs_glob",
            json!({ "pattern": ["*"] }),
            "invalid type: sequence",
        ),
        ("fs_grep", json!({ "pattern": "(" }), "unclosed group"),
        ("fs_grep", json!({ "pattern": "(?<=a)b" }), "look-around"),
        (
            "fs_grep",
            json!({ "pattern": "(a)\\1" }),
            "backreferences are not supported",
        ),
        (
            "fs_grep",
            json!({ "pattern": "((a{1000}){1000}){1000}" }),
            "it is too large; repeat less in it",
        ),
        (
            "fs_grep",
            json!({ "pattern": "a", "glob": "[" }),
            "the pattern \"[\" is refused",
        ),
        (
            "fs_grep",
            json!({ "pattern": "a", "context": 256 }),
            "invalid value: integer `256`",
        ),
        (
            "fs_grep",
            json!({ "pattern": "a", "path": "missing" }),
            "there is nothing at",
        ),
        (
            "fs_grep",
            json!({ "pattern": 7 }),
            "invalid type: integer `7`",
        ),
        ("fs_write", json!({ "path": "new.txt" }), "is missing"),
        (
            "fs_write",
            json!({ "path": "new.txt", "content": null }),
            "invalid type: null",
        ),
        (
            "fs_write",
            json!({ "path": "new.txt", "content": ["a"] }),
            "invalid type: sequence",
        ),
        (
            "fs_write",
            json!({ "path": "sub", "content": "" }),
            "is a folder, and a file is needed",
        ),
        (
            "fs_write",
            json!({ "path": ".", "content": "" }),
            "it is the folder itself",
        ),
        (
            "fs_write",
            json!({ "path": "notes.txt/x", "content": "" }),
            "a part of it is not a folder",
        ),
        (
            "fs_edit",
            json!({ "path": "notes.txt", "old_string": "a" }),
            "is missing",
        ),
        (
            "fs_edit",
            json!({ "path": "notes.txt", "old_string": 1, "new_string": 2 }),
            "invalid type: integer `1`",
        ),
        (
            "fs_mkdir",
            json!({ "path": "notes.txt" }),
            "is a file, and a folder is needed",
        ),
        (
            "fs_mkdir",
            json!({ "path": "notes.txt/sub" }),
            "a part of it is not a folder",
        ),
        ("fs_mkdir", json!({ "path": "" }), "it is the folder itself"),
        (
            "fs_remove",
            json!({ "path": "." , "recursive": true }),
            "it is the folder itself",
        ),
        (
            "fs_remove",
            json!({ "path": "./", "recursive": true }),
            "it is the folder itself",
        ),
        (
            "fs_remove",
            json!({ "path": "", "recursive": true }),
            "it is the folder itself",
        ),
        (
            "fs_remove",
            json!({ "path": "missing" }),
            "there is nothing at \"missing\"",
        ),
        (
            "fs_remove",
            json!({ "path": "sub", "recursive": "yes" }),
            "invalid type: string",
        ),
        (
            "fs_remove",
            json!({ "path": "sub" }),
            "\"sub\" is a folder that is not empty",
        ),
        (
            "fs_remove",
            json!({ "path": "sub", "recursive": false }),
            "is a folder that is not empty",
        ),
    ]
}

#[tokio::test]
async fn what_has_a_wrong_shape_is_refused_with_the_reason() {
    let place = Place::new();
    place.file("notes.txt", "a line\n");
    place.file("sub/more.txt", "another\n");
    place.file("image", b"\x89PNG\0\x01");
    place.file("latin1", b"caf\xe9\n");
    for (tool, arguments, reason) in refused() {
        let said = place.call(tool, arguments.clone()).await.expect_err(reason);
        assert!(said.contains(reason), "{tool} of {arguments}: {said}");
    }
    let kept = super::names(&place.at(""));
    assert_eq!(kept, ["image", "latin1", "notes.txt", "sub"]);
    assert_eq!(
        (place.content("notes.txt"), place.content("sub/more.txt")),
        ("a line\n".into(), "another\n".into())
    );
    place.assert_untouched();
}

#[tokio::test]
async fn a_pattern_that_is_huge_is_refused_and_one_that_is_hard_is_fast() {
    let place = Place::new();
    place.file("as.txt", format!("{}b\n", "a".repeat(100_000)));
    for (tool, pattern) in [
        ("fs_grep", "a"),
        ("fs_grep", "("),
        ("fs_glob", "*"),
        ("fs_glob", "{"),
    ] {
        let arguments = json!({ "pattern": pattern.repeat(1_000_000) });
        let said = place.call(tool, arguments).await.unwrap_err();
        assert!(
            said.contains("it is longer than 1000 characters") && said.len() < 500,
            "{said}"
        );
    }
    // Where a search tries all ways to match, these take longer than the world exists.
    let began = std::time::Instant::now();
    for pattern in ["^(a+)+$", "^(a|a)*$", "(a*)*(a*)*(a*)*c"] {
        let found = place.call("fs_grep", json!({ "pattern": pattern })).await;
        let said = "no line matches\n… 1 line was searched only at the beginning: too long";
        assert_eq!(found.as_deref(), Ok(said));
    }
    assert!(began.elapsed().as_secs() < 60);
}
