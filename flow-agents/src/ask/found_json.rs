//! Finds the JSON in an answer that may have other text around it.

use serde_json::Value;
use serde_json::error::Category;

/// All objects and arrays in a text that are not nested in others. If the whole text is JSON, only
/// that value.
///
/// # Errors
/// The reason why there is none, for the model to read.
pub(crate) fn find_json(text: &str) -> Result<Vec<Value>, String> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(vec![value]);
    }
    let mut found = Vec::new();
    let mut first_error = None;
    let mut rest = text;
    while let Some(start) = rest.find(['{', '[']) {
        rest = &rest[start..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter();
        let read = values.next();
        let end = values.byte_offset();
        match read {
            Some(Ok(value)) => {
                found.push(value);
                rest = &rest[end..];
            }
            Some(Err(error)) => {
                // Text after an opening bracket that is never closed belongs to it.
                if error.classify() == Category::Eof {
                    first_error.get_or_insert(error);
                    break;
                }
                rest = &rest[place_of(&error, rest)..];
                first_error.get_or_insert(error);
            }
            None => break,
        }
    }
    match (found.is_empty(), first_error) {
        (false, _) => Ok(found),
        (true, Some(error)) => Err(format!("its JSON cannot be read: {error}")),
        (true, None) if text.trim().is_empty() => Err("it is empty".to_owned()),
        (true, None) => Err("there is no JSON in it".to_owned()),
    }
}

/// The place after the first byte where the text stops being JSON.
fn place_of(error: &serde_json::Error, text: &str) -> usize {
    let lines = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1));
    let begin: usize = lines.map(str::len).sum();
    let place = begin + error.column().saturating_sub(1);
    text.ceil_char_boundary(place.max(1))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_found_in_fences_and_between_texts() {
        for (text, values) in [
            (" \"yes\"\n", vec![json!("yes")]),
            ("[1, 2]", vec![json!([1, 2])]),
            ("```json\n{\"a\": 1}\n```", vec![json!({ "a": 1 })]),
            ("```\n[]\n```\nDone.", vec![json!([])]),
            (
                "Not {this}, [nor that], but {\"a\": [1]}.",
                vec![json!({ "a": [1] })],
            ),
            (
                "First {\"a\": 1}, then {\"a\": 2}: see [3]",
                vec![json!({ "a": 1 }), json!({ "a": 2 }), json!([3])],
            ),
            ("{\"a\": \"}{\"} {", vec![json!({ "a": "}{" })]),
            ("ä{\"ä\": \"ß\"}ä", vec![json!({ "ä": "ß" })]),
        ] {
            assert_eq!(find_json(text), Ok(values), "{text}");
        }
    }

    #[test]
    fn it_is_said_why_there_is_none() {
        for (text, why) in [
            ("", "it is empty"),
            (" \n", "it is empty"),
            ("Yes.", "there is no JSON in it"),
            (
                "{\"a\": 1, }",
                "its JSON cannot be read: trailing comma at line 1 column 10",
            ),
            (
                "It is {\"a\": [1, {\"b\": 2}",
                "its JSON cannot be read: EOF while parsing a list at line 1 column 18",
            ),
        ] {
            assert_eq!(find_json(text), Err(why.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_text_of_many_braces_is_read_in_time() {
        for text in ["{", "[", "{\"a\":", "{]", "[\"[\",", "{} "] {
            let _ = find_json(&text.repeat(200_000));
        }
    }
}
