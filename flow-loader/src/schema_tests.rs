use serde_json::json;

use super::*;

fn said(schema: &Value, value: &Value) -> Vec<String> {
    let found = refused(schema.as_object().unwrap(), value).into_iter();
    found
        .map(|one| format!("{}: {}", one.pointer, one.message))
        .collect()
}

#[test]
fn ranges_are_checked() {
    let schema = json!({
        "type": "object",
        "properties": {
            "words": { "type": "integer", "minimum": 1, "maximum": 100 },
            "share": { "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 },
            "step": { "multipleOf": 0.1 },
            "name": { "minLength": 2, "maxLength": 3, "pattern": "^[a-z]+$" },
            "tags": { "minItems": 1, "uniqueItems": true, "items": { "enum": ["a", "b"] } },
            "maybe": { "anyOf": [{ "$ref": "#/$defs/Small" }, { "type": "null" }] },
            "round": { "$ref": "#/properties/round" },
        },
        "$defs": { "Small": { "type": "integer", "maximum": 9 } },
    });
    let fits = json!({
        "words": 1, "share": 0.5, "step": 0.3, "name": "abc", "tags": ["a", "b"], "maybe": null,
        "round": 1,
    });
    assert_eq!(said(&schema, &fits), [""; 0]);
    let refused = json!({
        "words": 0, "share": 1, "step": 0.25, "name": "Ä", "tags": ["a", "c"], "maybe": 10,
    });
    assert_eq!(
        said(&schema, &refused),
        [
            "/words: expected at least 1, found 0",
            "/share: expected less than 1, found 1",
            "/step: expected a multiple of 0.1, found 0.25",
            "/name: expected at least 2 characters, found 1",
            "/name: expected a text like `^[a-z]+$`, found \"Ä\"",
            "/tags/1: expected \"a\" or \"b\", found \"c\"",
            "/maybe: expected at most 9, found 10",
        ]
    );
    let elsewhere = json!({ "name": "${NAME}", "words": "@cred:words" });
    assert_eq!(said(&schema, &elsewhere), [""; 0]);
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    let schema = json!({ "allOf": [{ "$ref": "#" }, { "$ref": "#" }, { "$ref": "#" }] });
    assert_eq!(said(&schema, &json!({})), [""; 0]);
    assert_eq!(names(schema.as_object().unwrap()), None);
}

#[test]
fn the_names_of_alternatives_are_known() {
    let schema = json!({
        "oneOf": [
            { "properties": { "kind": { "const": "a" }, "one": {} } },
            { "$ref": "#/$defs/B" },
        ],
        "$defs": { "B": { "properties": { "kind": { "const": "b" }, "two": {} } } },
    });
    let names = names(schema.as_object().unwrap()).unwrap();
    assert_eq!(
        names.into_iter().collect::<Vec<_>>(),
        ["kind", "one", "two"]
    );
}

/// serde ignores fields that a tagged variant does not have; the schema knows them.
#[test]
fn the_alternative_with_the_tag_of_the_value_is_meant() {
    let schema = json!({ "properties": { "mode": { "oneOf": [
        { "type": "object", "properties": { "kind": { "const": "Plain" } }, "required": ["kind"] },
        { "$ref": "#/$defs/Fancy" },
    ] } }, "$defs": { "Fancy": { "type": "object", "properties": {
        "kind": { "const": "Fancy" }, "level": { "maximum": 3 }, "deep": { "properties": {
            "kind": { "const": "Plain" },
        } },
    } } } });
    let said = |mode: Value| said(&schema, &json!({ "mode": mode }));
    assert_eq!(said(json!({ "kind": "Fancy", "level": 3 })), [""; 0]);
    assert_eq!(
        said(json!({ "kind": "Fancy", "level": 9 })),
        ["/mode/level: expected at most 3, found 9"]
    );
    assert_eq!(
        said(json!({ "kind": "Fancy", "level": 1, "levle": 2 })),
        ["/mode/levle: there is no field `levle` here"]
    );
    assert_eq!(
        said(json!({ "kind": "Plain", "level": 1 })),
        ["/mode/level: there is no field `level` here"]
    );
    assert_eq!(
        said(json!({ "kind": "Fancy", "deep": { "kind": "Fancy" } })),
        ["/mode/deep/kind: expected \"Plain\", found \"Fancy\""]
    );
}
