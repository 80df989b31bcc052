//! Every place of a document, changed by a slip of the finger: none is silent, and each is one
//! finding at its place.

use flow_loader::Format;
use flow_runtime::flow_spec::document::__private::inside;
use serde_json::{Map, Value, json};

use super::article::{ARTICLE, problems};

fn article() -> Value {
    let document = flow_text::read(ARTICLE.as_bytes(), Format::Yaml).unwrap();
    serde_json::to_value(document.flow()).unwrap()
}

/// The pointers of all values, each with whether its name is one that the author chose.
fn places(value: &Value, pointer: &str, found: &mut Vec<(String, bool)>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let own = pointer.ends_with("/properties");
                let place = inside(pointer, name);
                found.push((place.clone(), own));
                places(value, &place, found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let place = inside(pointer, index);
                places(item, &place, found);
            }
        }
        _ => {}
    }
}

fn found(document: &Value) -> Vec<(String, String)> {
    problems(&document.to_string(), Format::Json)
}

fn parent(pointer: &str) -> &str {
    pointer.rsplit_once('/').unwrap().0
}

#[test]
fn the_article_is_sound() {
    assert_eq!(problems(ARTICLE, Format::Yaml), []);
    assert_eq!(found(&article()), []);
}

#[test]
fn a_key_that_is_misspelt() {
    let mut all = Vec::new();
    places(&article(), "", &mut all);
    assert!(all.len() > 100);
    let mut missed = Vec::new();
    for (pointer, is_own) in all {
        let name = pointer.rsplit_once('/').unwrap().1;
        for misspelt in [format!("{name}x"), swapped(name)] {
            if misspelt == name {
                continue;
            }
            let mut document = article();
            let object = document.pointer_mut(parent(&pointer)).unwrap();
            let object = object.as_object_mut().unwrap();
            *object = renamed(object, name, &misspelt);
            let found = found(&document);
            let place = format!("{}/{misspelt}", parent(&pointer));
            let is_one = matches!(&found[..], [(at, _)] if *at == place);
            // A name that the author chose is missed where it is used.
            let is_there = is_one || (is_own && !found.is_empty());
            if !is_there {
                missed.push((place, found));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

fn swapped(name: &str) -> String {
    let mut letters: Vec<char> = name.chars().collect();
    let last = letters.len() - 1;
    letters.swap(last, last.saturating_sub(1));
    letters.into_iter().collect()
}

fn renamed(object: &Map<String, Value>, from: &str, to: &str) -> Map<String, Value> {
    let fields = object.iter();
    let name = |name: &String| {
        if name == from {
            to.to_owned()
        } else {
            name.clone()
        }
    };
    fields
        .map(|(field, value)| (name(field), value.clone()))
        .collect()
}

#[test]
fn a_name_of_something_else() {
    for (pointer, several) in [
        ("/entryNodeId", false),
        ("/nodes/0/type", false),
        ("/nodes/2/type", false),
        ("/nodes/6/params/body", false),
        ("/nodes/6/params/over", true),
        ("/nodes/6/params/item", true),
        ("/nodes/2/params/cases/0/when", true),
        ("/edges/0/from", false),
        ("/edges/0/to", false),
        ("/edges/0/condition", false),
        ("/edges/2/condition", false),
        ("/ends/0/from", false),
        ("/ends/0/condition", false),
        ("/inputs/required/0", false),
        ("/outputs/required/0", false),
        ("/inputs/type", false),
    ] {
        let mut document = article();
        let value = document.pointer_mut(pointer).unwrap();
        *value = format!("x{}", value.as_str().unwrap()).into();
        let found = found(&document);
        assert!(!found.is_empty(), "{pointer}");
        if !several {
            assert!(
                matches!(&found[..], [(at, _)] if at == pointer),
                "{pointer}: {found:#?}"
            );
        }
    }
}

#[test]
fn a_node_that_is_renamed() {
    let count = article()["nodes"].as_array().unwrap().len();
    for index in 0..count {
        let mut document = article();
        let id = document["nodes"][index]["id"].as_str().unwrap().to_owned();
        document["nodes"][index]["id"] = "another".into();
        let found = found(&document);
        assert!(!found.is_empty(), "{id}");
        for (pointer, text) in found {
            assert_eq!(document.pointer(&pointer), Some(&json!(id)), "{text}");
        }
    }
}

#[test]
fn a_value_out_of_its_range() {
    for (pointer, value) in [
        ("/version", json!("1.0.0")),
        ("/nodes/0/settings/retry/attempts", json!(0)),
        ("/nodes/0/settings/retry/backoff", json!(0.5)),
        ("/nodes/0/settings/retry/jitter", json!(1.5)),
        ("/nodes/0/settings/retry/wait", json!("0s")),
        ("/nodes/0/settings/timeout", json!("soon")),
        ("/nodes/6/settings/concurrency", json!(0)),
        ("/nodes/0/params/words", json!(-1)),
        ("/nodes/0/params/words", json!("many")),
        ("/nodes/0/params/style/formal", json!("yes")),
        ("/inputs/properties/round/default", json!(11)),
        ("/inputs/properties/round/default", json!("one")),
        ("/inputs/properties/round/maximum", json!("ten")),
        #[cfg(feature = "schemars")]
        ("/nodes/0/params/words", json!(0)),
        #[cfg(feature = "schemars")]
        ("/nodes/0/params/words", json!(501)),
    ] {
        let mut document = article();
        *document.pointer_mut(pointer).unwrap() = value.clone();
        let found = found(&document);
        assert!(
            matches!(&found[..], [(at, _)] if at == pointer),
            "{pointer}: {value}: {found:#?}"
        );
    }
}

#[test]
fn a_bracket_that_is_lost() {
    let json = article().to_string();
    for (text, format) in [(ARTICLE, Format::Yaml), (json.as_str(), Format::Json)] {
        for (at, letter) in text.char_indices() {
            if !"{}[]()".contains(letter) {
                continue;
            }
            let mut without = text.to_owned();
            without.remove(at);
            let found = problems(&without, format);
            // A parenthesis in a prompt is only text.
            if !"()".contains(letter) {
                assert!(!found.is_empty(), "{}", &text[..=at]);
            }
        }
    }
}
