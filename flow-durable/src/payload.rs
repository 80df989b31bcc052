//! The rules for payloads: JSON that can be read back, even inside other JSON.
//!
//! serde_json writes values of any depth and integers of 128 bits, but reads neither. So both are
//! refused when a value comes in, not when it is needed again.

use std::collections::BTreeMap;

use flow_runtime::NodeError;
use serde_json::Value;

/// The maximum nesting depth of a value that a step returns, that a person answers, or that a flow
/// takes as an input.
pub(crate) const VALUE_DEPTH: usize = 100;

/// The maximum nesting depth of a payload that contains values. serde_json reads up to 127 levels.
pub(crate) const PAYLOAD_DEPTH: usize = 120;

/// The reason a value is not in the store.
pub(crate) const WITHOUT_BLOBS: &str = "is kept as a blob, and this process has opened the store \
     without its blobs: open it as the process that wrote it, with a `BlobStore`";

/// Checks a text that serde_json has written.
///
/// # Errors
///
/// The reason it could not be read back, in words.
pub(crate) fn check(json: &str, max_depth: usize) -> Result<(), String> {
    let bytes = json.as_bytes();
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_string(bytes, at + 1),
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'-' | b'0'..=b'9' => {
                let end = end_of_number(bytes, at + 1);
                check_number(&json[at..end])?;
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    if deepest > max_depth {
        return Err(format!(
            "it is nested {deepest} levels deep, and at most {max_depth} can be stored"
        ));
    }
    Ok(())
}

/// The reason a payload is not a value of its type, without a line and column that say nothing.
pub(crate) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(&place) {
        Some(reason) if error.is_data() => reason.to_owned(),
        _ => text,
    }
}

/// A node's error as JSON.
pub(crate) fn of_error(error: &NodeError) -> String {
    serde_json::to_string(error)
        .unwrap_or_else(|error| unreachable!("an error is stored as texts and numbers: {error}"))
}

/// A value as JSON with the keys of its objects in order, so that equal maps give equal texts.
pub(crate) fn canonical(value: &Value) -> String {
    sorted(value).to_string()
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(object) => {
            let keys: BTreeMap<&String, Value> = object
                .iter()
                .map(|(key, value)| (key, sorted(value)))
                .collect();
            keys.into_iter()
                .map(|(key, value)| (key.clone(), value))
                .collect()
        }
        value => value.clone(),
    }
}

/// The index of the closing quote of a string, given the index of the string's first byte.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

/// The index after the end of a number.
fn end_of_number(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
    at + rest.iter().take_while(|byte| is_part(byte)).count()
}

fn check_number(text: &str) -> Result<(), String> {
    // A number with so few digits is never too large.
    if text.len() < 19 || text.contains(['.', 'e', 'E']) {
        return Ok(());
    }
    if text.parse::<u64>().is_ok() || text.parse::<i64>().is_ok() {
        return Ok(());
    }
    Err(format!(
        "the number {text} has more than 64 bits, which cannot be stored: make it a text"
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nested(depth: usize) -> Value {
        (1..depth).fold(json!([]), |inner, _| json!([inner]))
    }

    #[test]
    fn the_depth_is_that_of_the_deepest_part() {
        let within = json!({ "a": [1, { "b": "[[[[{{{{\\\"" }], "c": {} }).to_string();
        assert_eq!(check(&within, 3), Ok(()));
        let reason = check(&within, 2).unwrap_err();
        assert_eq!(
            reason,
            "it is nested 3 levels deep, and at most 2 can be stored"
        );
        assert_eq!(check(&nested(100).to_string(), 100), Ok(()));
        assert!(check(&nested(101).to_string(), 100).is_err());
    }

    /// A quote in a string does not end it, and the text after the string counts.
    #[test]
    fn strings_with_escapes_hide_neither_more_nor_less_than_themselves() {
        assert_eq!(check(r#"["\"[[[","\\"]"#, 1), Ok(()));
        assert!(check(r#"["a\"",[[]]]"#, 2).is_err());
    }

    #[test]
    fn what_passes_can_be_read_back() {
        let text = nested(PAYLOAD_DEPTH).to_string();
        assert_eq!(check(&text, PAYLOAD_DEPTH), Ok(()));
        assert_eq!(
            serde_json::from_str::<Value>(&text).unwrap().to_string(),
            text
        );
    }

    #[test]
    fn the_order_of_keys_makes_no_difference() {
        let one = json!([{ "b": { "d": 1, "c": [2, { "f": 3, "e": 4 }] }, "a": null }]);
        let other = json!([{ "a": null, "b": { "c": [2, { "e": 4, "f": 3 }], "d": 1 } }]);
        assert_eq!(canonical(&one), canonical(&other));
        assert_ne!(canonical(&one), canonical(&json!([one])));
    }

    /// A snapshot writes values that were read before: the number stays the same only if reading is
    /// exact.
    #[test]
    fn numbers_are_the_same_after_a_snapshot() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..100_000 {
            let number = f64::from_bits(random.u64(..));
            if number.is_finite() {
                let text = json!(number).to_string();
                let read: Value = serde_json::from_str(&text).unwrap();
                assert_eq!(read.as_f64().map(f64::to_bits), Some(number.to_bits()));
            }
        }
    }

    #[test]
    fn numbers_of_more_than_64_bits_are_refused() {
        for fine in [
            "18446744073709551615",
            "-9223372036854775808",
            "1.7976931348623157e308",
            "\"340282366920938463463374607431768211455\"",
            "[0.12345678901234567890123]",
        ] {
            assert_eq!(check(fine, 1), Ok(()), "{fine}");
        }
        for wrong in [
            "18446744073709551616",
            "-9223372036854775809",
            "{\"a\":[340282366920938463463374607431768211455]}",
        ] {
            assert!(check(wrong, 9).unwrap_err().contains("64 bits"), "{wrong}");
        }
    }
}
