use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::*;

/// Returns the reason against a value, which is the same for both forms of JSON.
fn refused<T: Serialize>(value: &T) -> String {
    let reason = to_json(value).unwrap_err().to_string();
    assert_eq!(to_json_text(value).unwrap_err().to_string(), reason);
    reason
}

fn kept<T: Serialize>(value: &T) -> Value {
    let json = to_json(value).unwrap();
    assert_eq!(json, serde_json::to_value(value).unwrap());
    assert_eq!(
        to_json_text(value).unwrap(),
        serde_json::to_string(value).unwrap()
    );
    json
}

#[derive(Serialize)]
struct Scores {
    scores: Vec<Option<f64>>,
}

#[derive(Serialize)]
enum Verdict {
    Score { score: Option<f64> },
    Of(f32),
    Both(u8, Option<Option<u8>>),
}

#[derive(Serialize)]
struct Nothing;

#[derive(Serialize)]
struct Wrapped<T>(T);

#[test]
fn numbers_that_are_not_finite_are_refused_where_they_are() {
    let scores = vec![Some(1.0), Some(f64::NAN)];
    assert_eq!(
        refused(&Scores { scores }),
        "`scores[1]`: JSON has no number NaN"
    );
    assert_eq!(refused(&f64::INFINITY), "JSON has no number inf");
    assert_eq!(
        refused(&Verdict::Score {
            score: Some(f64::NEG_INFINITY)
        }),
        "`Score.score`: JSON has no number -inf"
    );
    assert_eq!(
        refused(&[Verdict::Of(f32::NAN)]),
        "`[0].Of`: JSON has no number NaN"
    );
    let by_key = BTreeMap::from([("a", Some(f64::NAN))]);
    assert_eq!(refused(&by_key), "`[\"a\"]`: JSON has no number NaN");
}

#[test]
fn a_some_that_would_be_read_as_none_is_refused() {
    let null = "JSON writes the value in this `Some` as `null`, which is read as `None`";
    assert_eq!(refused(&Some(())), null);
    assert_eq!(refused(&Some(None::<u8>)), null);
    assert_eq!(refused(&Some(Some(None::<u8>))), null);
    assert_eq!(refused(&Some(Nothing)), null);
    assert_eq!(refused(&Some(Wrapped(Wrapped(())))), null);
    assert_eq!(refused(&Some(Value::Null)), null);
    assert_eq!(
        refused(&Verdict::Both(1, Some(None))),
        format!("`Both[1]`: {null}")
    );
    kept(&(
        None::<()>,
        Some(Some(1)),
        (),
        Nothing,
        Value::Null,
        Some([()]),
    ));
    kept(&Verdict::Both(1, None));
}

#[test]
fn integers_of_more_than_64_bits_are_refused() {
    let reason = refused(&[u128::from(u64::MAX) + 1]);
    assert!(
        reason.starts_with("`[0]`: the number 18446744073709551616 has more"),
        "{reason}"
    );
    assert!(refused(&(i128::from(i64::MIN) - 1)).contains("-9223372036854775809"));
    kept(&(
        u128::from(u64::MAX),
        i128::from(i64::MIN),
        i128::from(u64::MAX),
    ));
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
enum Key {
    Number(u32),
    Text(String),
}

#[derive(Serialize)]
struct Flat {
    a: u8,
    #[serde(flatten)]
    rest: BTreeMap<String, u8>,
}

#[test]
fn two_keys_with_one_text_are_refused() {
    let keys = BTreeMap::from([(Key::Number(1), 1), (Key::Text("1".to_owned()), 2)]);
    assert_eq!(refused(&keys), "two keys have the text \"1\" in JSON");
    let rest = BTreeMap::from([("a".to_owned(), 2)]);
    assert_eq!(
        refused(&Flat { a: 1, rest }),
        "two keys have the text \"a\" in JSON"
    );
    let rest = BTreeMap::from([("b".to_owned(), 2)]);
    kept(&Flat { a: 1, rest });
    kept(&BTreeMap::from([(1, 'a'), (-1, '"')]));
    kept(&HashMap::from([(true, [0.5_f32])]));
    assert!(to_json(&BTreeMap::from([(vec![1], 1)])).is_err());
}

#[test]
fn common_values_are_written_as_serde_json_writes_them() {
    use std::time::Duration;
    assert_eq!(
        kept(&(
            Duration::from_millis(1500),
            "ä\n",
            'c',
            -0.0,
            [1_u8; 2],
            Some(1.5_f32)
        )),
        json!([{ "secs": 1, "nanos": 500_000_000 }, "ä\n", "c", -0.0, [1, 1], 1.5])
    );
}

/// An untagged enum whose variants have overlapping JSON, so that another one may be read.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum First {
    Optional { a: Option<u8>, b: Option<u8> },
    Same { a: u8 },
    Set(HashSet<String>),
}

#[derive(Debug, Serialize, Deserialize)]
struct Trimmed(#[serde(deserialize_with = "trimmed")] String);

fn trimmed<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(String::deserialize(deserializer)?.trim().to_owned())
}

/// A value that is written with another number each time.
#[derive(Debug, Deserialize)]
struct Sealed;

impl Serialize for Sealed {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
            .serialize(serializer)
    }
}

fn survives<T: Serialize + for<'de> Deserialize<'de>>(value: &T) -> Result<(), String> {
    let text = to_json_text(value).unwrap();
    let read: T = serde_json::from_str(&text).unwrap();
    unchanged(&text, value, &read).map_err(|inexact| inexact.to_string())
}

#[test]
fn what_is_read_as_another_value_is_found() {
    let reason = survives(&[First::Optional { a: None, b: None }, First::Same { a: 1 }]);
    assert_eq!(
        reason.unwrap_err(),
        "`[1]`: it is written as {\"a\":1}, and what is read from that is written as \
         {\"a\":1,\"b\":null}"
    );
    let reason = survives(&Trimmed(" a".to_owned()));
    assert!(reason.unwrap_err().starts_with("it is written as \" a\""));
    assert_eq!(survives(&Trimmed("a".to_owned())), Ok(()));
}

#[test]
fn the_order_of_a_set_makes_no_difference() {
    let set: HashSet<String> = (0..40).map(|number| number.to_string()).collect();
    assert_eq!(survives(&First::Set(set.clone())), Ok(()));
    let map: HashMap<String, HashSet<String>> =
        set.iter().map(|key| (key.clone(), set.clone())).collect();
    assert_eq!(survives(&map), Ok(()));
}

#[test]
fn a_value_that_is_never_written_alike_is_not_checked() {
    let text = to_json_text(&Sealed).unwrap();
    assert_eq!(unchanged(&text, &Sealed, &Sealed), Ok(()));
}

#[test]
fn json_from_outside_loses_neither_digits_nor_keys() {
    let fine = r#"{ "a": [18446744073709551615, -9223372036854775808, 1e300, 0.12345678901234567890123], "b": "99999999999999999999 \" \\" }"#;
    assert_eq!(
        parse_json(fine.as_bytes()).unwrap(),
        serde_json::from_str::<Value>(fine).unwrap()
    );
    let reason = |text: &str| parse_json(text.as_bytes()).unwrap_err().to_string();
    assert_eq!(
        reason(r#"{ "id": 18446744073709551616 }"#),
        "the number 18446744073709551616 has more than 64 bits: make it a text"
    );
    assert!(reason("[-9223372036854775809]").contains("-9223372036854775809"));
    assert_eq!(
        reason(r#"[{ "a": 1, "b": { "a": 2 }, "\u0061": 3 }]"#),
        "the key \"a\" is there twice at line 1 column 36"
    );
    assert!(reason("{").contains("EOF"));
}
