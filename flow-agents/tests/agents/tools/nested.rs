//! The schemas of arguments whose types contain others.

use flow_agents::tools;
use flow_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::Unit;

macro_rules! nested {
    ($($outer:ident $inner:ident;)*) => {$(
        #[derive(Deserialize, JsonSchema)]
        struct $outer {
            _a: $inner,
            _b: $inner,
            _c: $inner,
        }
    )*};
}
nested! {
    L1 L2; L2 L3; L3 L4; L4 L5; L5 L6; L6 L7; L7 L8; L8 Once;
}

#[derive(Deserialize, JsonSchema)]
struct Once {
    _inner: Inner,
}

#[derive(Deserialize, JsonSchema)]
struct Inner {
    _number: u64,
    _again: Option<Box<Inner>>,
}

#[node]
fn deep(_levels: &L1, _unit: Unit) {}

/// A type that is used in one place is written there; others are referred to, so the schema stays small.
#[test]
fn the_schema_of_types_in_types() {
    let schema = &tools![deep].definitions()[0].parameters;
    assert!(
        schema.to_string().len() < 3000,
        "{}",
        schema.to_string().len()
    );
    assert_eq!(
        schema["properties"]["unit"]["enum"],
        json!(["celsius", "fahrenheit"])
    );
    let levels = &schema["properties"]["levels"]["properties"];
    assert_eq!(levels["_a"], json!({ "$ref": "#/$defs/L2" }));
    assert_eq!(
        schema["$defs"]["L8"]["properties"]["_a"],
        json!({ "$ref": "#/$defs/Once" })
    );
    let once = &schema["$defs"]["Once"]["properties"]["_inner"];
    assert_eq!(once, &json!({ "$ref": "#/$defs/Inner" }));
    assert!(jsonschema::validator_for(schema).is_ok());
}
