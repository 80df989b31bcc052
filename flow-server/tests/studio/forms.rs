//! Forms made from JSON Schemas, and the parts of a stream.

use serde_json::{Value, json};

use crate::page::Page;
use crate::server::Served;

/// A page with nothing but the form of a schema.
fn form(page: &Page, schema: &Value, leave_out: bool) {
    let text = json!(schema.to_string());
    page.run(&format!(
        "Promise.all(['api', 'schema-form'].map((name) => import(new URL(`studio/${{name}}.js`, location.href)))).then(([api, module]) => {{
            // As it comes from the server, with numbers that JavaScript would round.
            const schema = api.parse({text});
            window.form = new module.SchemaForm(schema, {{ leaveOut: {leave_out} }});
            document.querySelector('main').replaceChildren(window.form.element);
            return true;
        }})"
    ));
}

/// The JSON text of the form. Nothing if a field is wrong.
fn read(page: &Page) -> Option<String> {
    page.eval("window.form.read() ?? null")
        .as_str()
        .map(str::to_owned)
}

/// What the form says about its fields.
fn wrong(page: &Page) -> Value {
    page.eval("all('.wrong').map((one) => one.textContent).filter(Boolean)")
}

#[test]
fn a_form_has_a_field_for_each_kind_of_schema() {
    let served = Served::new();
    let Some(page) = Page::open(&served.at("questions")) else {
        return;
    };
    let schema = json!({
        "type": "object",
        "required": ["text", "whole", "number", "yes", "kind", "inner", "list", "pair", "map", "any", "same", "maybe"],
        "properties": {
            "text": { "type": "string", "minLength": 2, "maxLength": 5 },
            "whole": { "type": "integer", "minimum": 0, "maximum": u64::MAX },
            "number": { "type": "number" },
            "yes": { "type": "boolean" },
            "kind": { "enum": ["red", 7, null] },
            "inner": { "allOf": [{ "$ref": "#/$defs/inner" }] },
            "list": { "type": "array", "items": { "type": "integer" } },
            "pair": { "type": "array", "prefixItems": [{ "type": "integer" }, { "type": "string" }] },
            "map": { "type": "object", "additionalProperties": { "type": "integer" } },
            "any": true,
            "same": { "const": "x" },
            "maybe": { "type": ["integer", "null"] },
            "other": { "type": "integer", "default": 3 },
        },
        "$defs": { "inner": { "type": "object", "required": ["deep"], "properties": { "deep": { "type": "string" } } } },
    });
    form(&page, &schema, true);
    assert_eq!(read(&page), None);
    assert_eq!(
        wrong(&page).as_array().unwrap().len(),
        8,
        "{}",
        wrong(&page)
    );
    page.fill("text", "äöü👍");
    page.fill("whole", "18446744073709551615");
    page.fill("number", "-1.5e3");
    page.eval("(labelled('yes').value = 'no', true)");
    page.click("labelled('7')");
    page.fill("deep", "\"quoted\"");
    page.click("named('button', 'Add to list')");
    page.fill("Item", "1");
    page.fill("pair", "[1, \"a\"]");
    page.fill("map", "{\"a\": 12345678901234567890}");
    page.fill("any", "null");
    let text = "{\"text\":\"äöü👍\",\"whole\":18446744073709551615,\"number\":-1.5e3,\"yes\":false,\"kind\":7,\
                \"inner\":{\"deep\":\"\\\"quoted\\\"\"},\"list\":[1],\"pair\":[1, \"a\"],\
                \"map\":{\"a\": 12345678901234567890},\"any\":null,\"same\":\"x\",\"maybe\":null}";
    assert_eq!(read(&page).as_deref(), Some(text));
    page.click("labelled('Give other')");
    page.fill("other", "04");
    assert_eq!(read(&page), None);
    assert_eq!(wrong(&page), json!(["This has to be: a whole number"]));
    page.fill("other", "4");
    page.click("named('button', 'Remove')");
    let found = read(&page).unwrap();
    assert!(
        found.contains("\"list\":[]") && found.ends_with("\"other\":4}"),
        "{found}"
    );
    page.fill("whole", "18446744073709551616");
    page.fill("text", "too long");
    assert_eq!(read(&page), None);
    assert_eq!(
        wrong(&page).as_array().unwrap().len(),
        2,
        "{}",
        wrong(&page)
    );
    page.has_no_problems();
}

#[test]
fn a_schema_that_is_not_understood_is_a_field_for_json() {
    let served = Served::new();
    let Some(page) = Page::open(&served.at("questions")) else {
        return;
    };
    let endless = json!({ "$ref": "#" });
    let within =
        json!({ "type": "object", "required": ["a"], "properties": { "a": { "$ref": "#" } } });
    for schema in [
        json!({}),
        json!(true),
        json!(null),
        json!({ "not": {} }),
        endless,
        within,
    ] {
        form(&page, &schema, false);
        page.wait("find('textarea.code')");
    }
    page.has_no_problems();
}

#[test]
fn a_stream_is_the_same_however_it_is_cut() {
    let served = Served::new();
    let Some(page) = Page::open(&served.at("questions")) else {
        return;
    };
    let found = page.run(
        "import(new URL('studio/stream.js', location.href)).then(({ Messages }) => {
            const whole = ': hello\\n\\nid: 1\\ndata: a\\n\\ndata:b\\ndata:  c\\r\\nid: 2\\r\\n\\r\\n\\ndata\\n\\nretry: 3\\n\\ndata: d';
            const found = new Set();
            for (let one = 0; one <= whole.length; one++) for (let two = one; two <= whole.length; two++) {
                const messages = new Messages();
                const parts = [whole.slice(0, one), whole.slice(one, two), whole.slice(two)];
                found.add(JSON.stringify(parts.flatMap((part) => messages.add(part))));
            }
            return [...found];
        })",
    );
    let messages =
        json!([{ "id": "1", "data": "a" }, { "id": "2", "data": "b\n c" }, { "data": "" }]);
    let found: Vec<Value> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|text| serde_json::from_str(text.as_str().unwrap()).unwrap())
        .collect();
    assert_eq!(found, [messages]);
    page.has_no_problems();
}
