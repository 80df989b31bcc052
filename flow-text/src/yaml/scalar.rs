//! The meaning of a scalar without quotes: the core schema of YAML 1.2.

use serde_json::{Number, Value};

/// The value of a scalar without quotes.
///
/// # Errors
///
/// The scalar is a number that JSON does not have.
pub(super) fn value(text: &str) -> Result<Value, &'static str> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if is_special(text) => return Err("neither an infinity nor `.nan` is a number here"),
        _ => match number(text) {
            Some(Some(number)) => Value::Number(number),
            Some(None) => return Err("this number is too large"),
            None => Value::String(text.to_owned()),
        },
    })
}

/// Returns true for `.inf`, `-.inf` and `.nan`.
fn is_special(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}

/// A number as in JSON: 64 bits if it is an integer and fits, and otherwise a double. `None` if the
/// text is not a number, and `Some(None)` if it is too large for a double.
fn number(text: &str) -> Option<Option<Number>> {
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = text.strip_prefix(prefix)
            && !digits.is_empty()
            && digits.chars().all(|digit| digit.is_digit(radix))
        {
            return Some(u64::from_str_radix(digits, radix).ok().map(Number::from));
        }
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_whole {
        // JSON reads `-0` as a double, too.
        if let Ok(number) = text.parse::<u64>() {
            return Some(Some(number.into()));
        }
        if let Ok(number) = text.parse::<i64>()
            && number != 0
        {
            return Some(Some(number.into()));
        }
    } else if !is_float(digits) {
        return None;
    }
    Some(text.parse().ok().and_then(Number::from_f64))
}

/// Returns true for digits with a point or an exponent: `1.5`, `.5`, `1.`, `1e9`.
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_exponent = |text: &str| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        !digits.is_empty() && are_digits(digits)
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    are_digits(whole)
        && are_digits(part)
        && !(whole.is_empty() && part.is_empty())
        && exponent.is_none_or(is_exponent)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scalars_are_those_of_the_core_schema() {
        let read = |text: &str| value(text).unwrap();
        for text in ["", "~", "null", "Null", "NULL"] {
            assert_eq!(read(text), Value::Null, "{text}");
        }
        for (text, flag) in [("true", true), ("True", true), ("FALSE", false)] {
            assert_eq!(read(text), flag, "{text}");
        }
        for text in [
            "yes",
            "no",
            "on",
            "off",
            "y",
            "n",
            "tRue",
            "nULL",
            "2.0.0",
            "1_000",
            "12:30:45",
            "0b1",
            "0o8",
            "0x",
            "1e",
            "e9",
            ".",
            "+",
            "-",
            "- 1",
            "0xg",
            "1.5.2",
            "2026-11-24",
            "<",
            "=",
            ".e1",
            "+0x1",
            "１",
            "..5",
            "1e1.5",
        ] {
            assert_eq!(read(text), text, "{text}");
        }
        let numbers = [
            ("0", json!(0)),
            ("007", json!(7)),
            ("+5", json!(5)),
            ("-5", json!(-5)),
            ("0o17", json!(15)),
            ("0xfF", json!(255)),
            ("1.50", json!(1.5)),
            (".5", json!(0.5)),
            ("1.", json!(1.0)),
            ("1e3", json!(1000.0)),
            ("-1.5E-3", json!(-0.0015)),
        ];
        for (text, number) in numbers {
            assert_eq!(read(text), number, "{text}");
        }
    }

    /// A number that both formats can write is the same in both.
    #[test]
    fn numbers_are_those_of_json() {
        for text in [
            "-0",
            "-0.0",
            "18446744073709551615",
            "18446744073709551616",
            "-9223372036854775808",
            "-9223372036854775809",
            "123456789012345678901234567890",
            "0.1",
            "5e-324",
            "1.7976931348623157e308",
            "3.141592653589793238462643",
        ] {
            let json: Value = serde_json::from_str(text).unwrap();
            assert_eq!(value(text).unwrap().to_string(), json.to_string(), "{text}");
        }
    }

    #[test]
    fn numbers_that_json_does_not_have() {
        for text in [
            ".inf",
            "-.Inf",
            "+.INF",
            ".nan",
            "1e999",
            "0xfffffffffffffffff",
        ] {
            assert!(value(text).is_err(), "{text}");
        }
        assert_eq!(value("-.nan").unwrap(), "-.nan");
    }
}
