//! JSON from outside the program.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Error, Value};

/// Reads JSON as serde_json does, but loses nothing: no digits of an integer, and no value whose
/// key occurs twice.
///
/// # Errors
///
/// The text is not JSON, an integer has more than 64 bits, or an object has a key twice.
pub fn parse_json(text: &[u8]) -> Result<Value, Error> {
    let KeysOnce = serde_json::from_slice(text)?;
    let value = serde_json::from_slice(text)?;
    match large_integer(text) {
        None => Ok(value),
        Some(number) => Err(Error::custom(format!(
            "the number {number} has more than 64 bits: make it a text"
        ))),
    }
}

/// The result of reading a value whose objects have each key once.
struct KeysOnce;

impl<'de> Deserialize<'de> for KeysOnce {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KeysOnce)
    }
}

impl<'de> Visitor<'de> for KeysOnce {
    type Value = KeysOnce;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while let Some(KeysOnce) = items.next_element()? {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            if keys.contains(&key) {
                return Err(A::Error::custom(format!(
                    "the key \"{key}\" is there twice"
                )));
            }
            keys.insert(key);
            let KeysOnce = entries.next_value()?;
        }
        Ok(self)
    }
}

/// The first integer of more than 64 bits in a text that is JSON.
fn large_integer(text: &[u8]) -> Option<&str> {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => at = end_of_string(text, at + 1),
            b'-' | b'0'..=b'9' => {
                let is_part =
                    |byte: &&u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
                let end = at + text[at..].iter().take_while(is_part).count();
                let number = std::str::from_utf8(&text[at..end]).unwrap_or_default();
                let is_small = number.parse::<u64>().is_ok() || number.parse::<i64>().is_ok();
                if !is_small && !number.contains(['.', 'e', 'E']) {
                    return Some(number);
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    None
}

/// The index after the string whose first byte is at this index.
fn end_of_string(text: &[u8], mut at: usize) -> usize {
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}
