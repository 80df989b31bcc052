//! The value of an incomplete JSON object.
//!
//! The text is cut where a value may end, and the open parts are closed. Each change of the open
//! parts is such a place, so those open at the last one are still open at the end.

use serde_json::Value;

/// A JSON object in a text that arrives in parts. Text around the object is ignored.
///
/// Strings appear as far as they have arrived. Numbers and the words `true`, `false` and `null`
/// appear when something follows them, since `12` may become `120`.
#[derive(Debug, Default)]
pub(crate) struct JsonSoFar {
    /// The text from the first brace on.
    text: String,
    /// The closing brackets of the open parts. Empty before and after the object.
    open: Vec<char>,
    /// The place where the text can be cut, and true if it is within a string.
    cut: Option<(usize, bool)>,
    within: Within,
    /// True if the next string is the name of a field.
    expects_name: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Within {
    #[default]
    Nothing,
    /// A number or a word.
    Word,
    Text(Text),
}

/// A string within the JSON.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Text {
    is_name: bool,
    escape: Escape,
    /// The last character was the first half of a surrogate pair, which takes two escapes.
    is_half: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Escape {
    No,
    /// After a backslash.
    Begun,
    /// After `\u`: the number of digits so far, and their value.
    Digits(u32, u32),
}

impl JsonSoFar {
    pub(crate) fn new() -> JsonSoFar {
        JsonSoFar::default()
    }

    /// Adds a part. A brace after the end of the object begins another one.
    pub(crate) fn push(&mut self, part: &str) {
        for character in part.chars() {
            if !self.open.is_empty() {
                self.text.push(character);
                if self.read(character) {
                    continue;
                }
                *self = JsonSoFar::new(); // the brace was none of JSON
            }
            if character == '{' {
                *self = JsonSoFar::new();
                self.text.push(character);
                self.begin('}');
            }
        }
    }

    /// The object so far. `None` if none has begun, or if it is not JSON.
    pub(crate) fn value(&self) -> Option<Value> {
        let (end, is_text) = self.cut?;
        let mut text = self.text[..end].to_owned();
        text.extend(is_text.then_some('"'));
        text.extend(self.open.iter().rev());
        serde_json::from_str(&text).ok()
    }

    /// Returns true if this can still be JSON.
    fn read(&mut self, character: char) -> bool {
        match self.within {
            Within::Text(text) => {
                self.read_text(text, character);
                true
            }
            Within::Word if matches!(character, ',' | '}' | ']') || character.is_whitespace() => {
                self.cut_before(character);
                self.within = Within::Nothing;
                self.read_mark(character)
            }
            Within::Word => true,
            Within::Nothing => self.read_mark(character),
        }
    }

    /// Reads a character that is neither within a string nor after the first one of a word.
    fn read_mark(&mut self, character: char) -> bool {
        match character {
            '"' => {
                self.within = Within::Text(Text {
                    is_name: self.expects_name,
                    escape: Escape::No,
                    is_half: false,
                });
                self.expects_name = false;
            }
            '}' | ']' => {
                if self.open.pop() != Some(character) {
                    return false;
                }
                self.expects_name = false;
                self.cut_here(false);
            }
            _ if character.is_whitespace() => {}
            _ if self.expects_name => return false,
            '{' => self.begin('}'),
            '[' => self.begin(']'),
            ',' => self.expects_name = self.open.last() == Some(&'}'),
            ':' => {}
            _ => self.within = Within::Word,
        }
        true
    }

    fn begin(&mut self, closes: char) {
        self.open.push(closes);
        self.expects_name = closes == '}';
        self.cut_here(false);
    }

    fn read_text(&mut self, mut text: Text, character: char) {
        let is_whole = match (text.escape, character) {
            (Escape::No, '"') => {
                self.within = Within::Nothing;
                if !text.is_name {
                    self.cut_here(false);
                }
                return;
            }
            (Escape::No, '\\') => {
                text.escape = Escape::Begun;
                false
            }
            (Escape::No, _) => true,
            (Escape::Begun, 'u') => {
                text.escape = Escape::Digits(0, 0);
                false
            }
            (Escape::Begun, _) => {
                text.escape = Escape::No;
                true
            }
            (Escape::Digits(count, value), _) => {
                let value = value * 16 + character.to_digit(16).unwrap_or_default();
                let is_last = count == 3;
                text.escape = if is_last {
                    Escape::No
                } else {
                    Escape::Digits(count + 1, value)
                };
                text.is_half = is_last && (0xD800..0xDC00).contains(&value);
                is_last && !text.is_half
            }
        };
        if is_whole && !text.is_name {
            self.cut_here(true);
        }
        self.within = Within::Text(text);
    }

    fn cut_here(&mut self, is_text: bool) {
        self.cut = Some((self.text.len(), is_text));
    }

    fn cut_before(&mut self, character: char) {
        self.cut = Some((self.text.len() - character.len_utf8(), false));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, json};

    use super::*;

    fn read(text: &str) -> Option<Value> {
        let mut json = JsonSoFar::new();
        json.push(text);
        json.value()
    }

    #[test]
    fn a_value_appears_as_far_as_it_cannot_change() {
        for (text, value) in [
            ("", None),
            ("Here it is: ", None),
            ("{", Some(json!({}))),
            (r#"{"na"#, Some(json!({}))),
            (r#"{"name""#, Some(json!({}))),
            (r#"{"name": "#, Some(json!({}))),
            (r#"{"name": ""#, Some(json!({}))),
            (r#"{"name": "A"#, Some(json!({ "name": "A" }))),
            (r#"{"name": "A\"#, Some(json!({ "name": "A" }))),
            (r#"{"name": "A\n"#, Some(json!({ "name": "A\n" }))),
            (r#"{"name": "A\u00e"#, Some(json!({ "name": "A" }))),
            (r#"{"name": "A\u00e4"#, Some(json!({ "name": "Aä" }))),
            (r#"{"name": "A\ud83d"#, Some(json!({ "name": "A" }))),
            (r#"{"name": "A\ud83d\ude"#, Some(json!({ "name": "A" }))),
            (r#"{"name": "A\ud83d\ude00"#, Some(json!({ "name": "A😀" }))),
            (r#"{"n": 12"#, Some(json!({}))),
            (r#"{"n": 12,"#, Some(json!({ "n": 12 }))),
            (r#"{"n": tru"#, Some(json!({}))),
            (r#"{"n": [true, fals"#, Some(json!({ "n": [true] }))),
            (
                r#"{"n": [true, {"a": "b"}"#,
                Some(json!({ "n": [true, { "a": "b" }] })),
            ),
            (r#"{"n": "}]"}"#, Some(json!({ "n": "}]" }))),
            ("```json\n{\"n\": 1 }\n```", Some(json!({ "n": 1 }))),
            (r#"Use {braces}: {"n": 1 "#, Some(json!({ "n": 1 }))),
            (r#"{"n": 1} or {"n": 2 "#, Some(json!({ "n": 2 }))),
            (r#"{"n": 1]"#, None),
            ("{}}{]", None),
        ] {
            assert_eq!(read(text), value, "{text}");
        }
    }

    #[test]
    fn a_text_that_is_too_deep_or_has_many_braces_is_read_in_time() {
        for text in ["{\"a\":", "{", "{a", "{]", "[{"] {
            read(&text.repeat(200_000));
        }
    }

    /// Returns true if a value may become another one when more of it arrives.
    fn begins(part: &Value, whole: &Value) -> bool {
        match (part, whole) {
            (Value::String(part), Value::String(whole)) => whole.starts_with(part.as_str()),
            (Value::Array(part), Value::Array(whole)) => {
                part.len() <= whole.len() && part.iter().zip(whole).all(|(a, b)| begins(a, b))
            }
            (Value::Object(part), Value::Object(whole)) => part
                .iter()
                .all(|(name, part)| whole.get(name).is_some_and(|whole| begins(part, whole))),
            _ => part == whole,
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let scalar = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-1e9..1e9_f64).prop_map(Value::from),
            "\\PC{0,8}".prop_map(Value::from),
            "[\\\\\"{}\\[\\]:,a😀\n]{0,8}".prop_map(Value::from),
        ];
        scalar.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                object(inner),
            ]
        })
    }

    fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
        let fields = prop::collection::btree_map("\\PC{0,4}", inner, 0..5);
        fields.prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>()))
    }

    /// The same JSON with all characters outside ASCII as escapes.
    fn escaped(json: &str) -> String {
        let mut text = String::new();
        for unit in json.encode_utf16() {
            match u8::try_from(unit).ok().filter(u8::is_ascii) {
                Some(byte) => text.push(char::from(byte)),
                None => text.push_str(&format!("\\u{unit:04X}")),
            }
        }
        text
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn each_beginning_of_a_text_has_a_beginning_of_its_value(whole in object(value())) {
            let plain = whole.to_string();
            for text in [&escaped(&plain), &format!("{whole:#}"), &plain] {
                let mut json = JsonSoFar::new();
                let mut before = Value::Object(Map::new());
                for character in text.chars() {
                    json.push(character.encode_utf8(&mut [0; 4]));
                    let now = json.value().expect("the first character is a brace");
                    prop_assert!(begins(&before, &now), "{before} {now}");
                    prop_assert!(begins(&now, &whole), "{now} {whole}");
                    before = now;
                }
                prop_assert_eq!(before, whole.clone());
            }
        }

        #[test]
        fn any_text_in_any_parts_is_read_as_in_one(
            parts in prop::collection::vec("[{}\\[\\]\",:a1 \\\\u]{0,6}", 0..12)
        ) {
            let mut json = JsonSoFar::new();
            for part in &parts {
                json.push(part);
            }
            prop_assert_eq!(json.value(), read(&parts.concat()));
        }
    }
}
