//! The types of the values.

pub(crate) use std::collections::{BTreeMap, HashMap, HashSet};
pub(crate) use std::num::NonZeroU32;
pub(crate) use std::time::{Duration, SystemTime};

use serde::{Deserialize, Deserializer, Serialize};
pub(crate) use serde_json::value::RawValue;
pub(crate) use serde_json::{Value as Json, json};

/// Where a flow makes a value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum Place {
    Result,
    Action,
    Answer,
    Items,
}

impl Place {
    pub(crate) const ALL: [Place; 4] = [Place::Result, Place::Action, Place::Answer, Place::Items];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Place::Result => "the result of a step",
            Place::Action => "a field of an action",
            Place::Answer => "a field of an answer",
            Place::Items => "an item of a loop",
        }
    }
}

/// How a value is shown.
pub(crate) fn show<T: std::fmt::Debug>(value: &T) -> String {
    format!("{value:?}")
}

/// A node that returned a `Result` would fail.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Outcome(pub(crate) Result<f64, Option<()>>);

pub(crate) fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Color {
    Red,
    Blue,
}

/// A key of which two values have the same text.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Loose {
    Number(u32),
    Text(String),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Plain {
    pub(crate) a: u8,
    pub(crate) b: Option<f64>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Unit;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Wrapped(pub(crate) Option<f64>);

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum External {
    Unit,
    Of(Option<()>),
    Two(u8, Option<Option<u8>>),
    Named { a: Option<f64> },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type")]
pub(crate) enum Internal {
    Unit,
    Named { a: f64 },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", content = "of")]
pub(crate) enum Adjacent {
    Unit,
    Of(Option<()>),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Untagged {
    Number(u32),
    Float(f64),
    Text(String),
    Optional { a: Option<u8>, b: Option<u8> },
    Single { a: u8 },
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Flat {
    pub(crate) a: u8,
    #[serde(flatten)]
    pub(crate) rest: BTreeMap<String, u8>,
}

/// Keys that are numbers are not read where a struct is flattened.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FlatNumbers {
    pub(crate) a: u8,
    #[serde(flatten)]
    pub(crate) rest: BTreeMap<u32, u8>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FlatMaybe {
    pub(crate) a: u8,
    #[serde(flatten)]
    pub(crate) rest: Option<Rest>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Rest {
    pub(crate) b: Option<u8>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LeftOut {
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) a: u8,
}

fn is_zero(number: &u8) -> bool {
    *number == 0
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Trimmed(#[serde(deserialize_with = "trimmed")] pub(crate) String);

fn trimmed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(String::deserialize(deserializer)?.trim().to_owned())
}
