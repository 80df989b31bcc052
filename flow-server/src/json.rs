//! Unambiguous JSON: no key occurs twice, and no number is rounded.

use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// An upper bound for the digits of a number that a double holds exactly.
const MOST_DIGITS: usize = 800;

/// Parses a text from a client.
///
/// # Errors
///
/// The reason why it cannot be parsed, for the client.
pub(crate) fn read<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    check(text)?;
    serde_json::from_slice(text).map_err(|error| error.to_string())
}

/// Checks that a text is JSON without duplicate keys and without numbers that would be rounded.
///
/// # Errors
///
/// The reason why it is refused, for the client.
pub(crate) fn check(text: &[u8]) -> Result<(), String> {
    serde_json::from_slice::<Unique>(text).map_err(|error| error.to_string())?;
    let text = std::str::from_utf8(text).map_err(|error| error.to_string())?;
    match numbers(text).find(|number| !is_held(number)) {
        None => Ok(()),
        Some(number) => {
            let shown: String = number.chars().take(40).collect();
            let more = if shown.len() < number.len() {
                "…"
            } else {
                ""
            };
            Err(format!(
                "the number {shown}{more} would be rounded: integers are from -2^63 to 2^64-1, and others \
                 have about 16 digits; send it as a text"
            ))
        }
    }
}

/// A value whose objects have each key only once.
struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Unique)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = Unique;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_str<E>(self, _: &str) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Unique, A::Error> {
        while items.next_element::<Unique>()?.is_some() {}
        Ok(Unique)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Unique, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            if keys.contains(&key) {
                let shown: String = key.chars().take(100).collect();
                return Err(A::Error::custom(format_args!(
                    "the key `{shown}` is there twice"
                )));
            }
            keys.insert(key);
            entries.next_value::<Unique>()?;
        }
        Ok(Unique)
    }
}

/// Returns the numbers in a JSON text.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find(|c: char| matches!(c, '"' | '-' | '0'..='9'))?;
            rest = &rest[start..];
            if let Some(behind) = rest.strip_prefix('"') {
                rest = &behind[end_of_string(behind)..];
                continue;
            }
            let is_outside = |c: char| !matches!(c, '-' | '+' | '.' | 'e' | 'E' | '0'..='9');
            let (number, behind) = rest.split_at(rest.find(is_outside).unwrap_or(rest.len()));
            rest = behind;
            return Some(number);
        }
    })
}

/// Returns the end of a string, given without its opening quote.
fn end_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.find(|c: char| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 1)
}

/// Returns `true` if a double holds the number exactly.
fn is_held(number: &str) -> bool {
    let mantissa = number.split(['e', 'E']).next().unwrap_or(number);
    if mantissa.len() == number.len() && !number.contains('.') {
        return number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok();
    }
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_matches('0');
    let Ok(value) = number.parse::<f64>() else {
        return false;
    };
    if digits.is_empty() || digits.len() > MOST_DIGITS {
        return digits.is_empty();
    }
    // Formatted with the digits that were sent, the number has to be the same.
    let again = format!("{:.*e}", digits.len() - 1, value.abs());
    let again = again.split('e').next().unwrap_or_default();
    value.is_finite()
        && again
            .chars()
            .filter(char::is_ascii_digit)
            .eq(digits.chars())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_held() {
        for number in [
            "0",
            "-0",
            "0.0",
            "-0.0e5",
            "1",
            "-9223372036854775808",
            "18446744073709551615",
            "0.1",
            "0.10",
            "1e2",
            "1E+2",
            "100.0",
            "1.7976931348623157e308",
            "5e-324",
            "0.30000000000000004",
            "0.10000000000000001",
            "9007199254740993",
            "1e23",
            "123456789012345.6",
        ] {
            assert!(is_held(number), "{number}");
            assert_eq!(check(number.as_bytes()), Ok(()));
        }
    }

    #[test]
    fn numbers_that_would_be_rounded() {
        for number in [
            "18446744073709551616",
            "-9223372036854775809",
            "9007199254740993.0",
            "1.00000000000000001",
            "3.14159265358979323846",
            "1e-400",
            "3e-324",
            "123456789012345678901234567890",
        ] {
            assert!(!is_held(number), "{number}");
            let said = check(format!("{{\"a\": [\"\\\\\", {number}]}}").as_bytes());
            assert!(said.is_err_and(|said| said.contains(number)), "{number}");
        }
        assert!(check(b"1e400").is_err());
        let long = format!("0.{}", "1".repeat(100_000));
        assert!(check(long.as_bytes()).is_err_and(|said| said.len() < 300));
    }

    #[test]
    fn numbers_within_texts_are_texts() {
        let text = r#"{"18446744073709551616": "\"18446744073709551616\\", "b": "\\\" 1e-400"}"#;
        assert_eq!(check(text.as_bytes()), Ok(()));
    }

    #[test]
    fn keys_that_are_there_twice() {
        for text in [r#"{"a":1,"a":1}"#, r#"[{"b":{"a":1,"\u0061":2}}]"#] {
            let said = check(text.as_bytes()).unwrap_err();
            assert!(said.contains("the key `a` is there twice"), "{said}");
        }
        assert_eq!(check(br#"{"a":{"a":1},"b":[{"a":1},{"a":1}]}"#), Ok(()));
    }
}
