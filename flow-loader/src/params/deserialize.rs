//! Deserializes params like JSON, with errors that know their param.

use std::any::type_name;
use std::cell::Cell;

use secrecy::{ExposeSecret as _, SecretString};
use serde::de::value::{MapAccessDeserializer, StrDeserializer, StringDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::Number;

use super::{Param, ParamError};
use crate::provided::accepted;

thread_local! {
    /// True if the outermost object that this thread read last became a struct all of whose names
    /// serde knows.
    static IS_STRUCT: Cell<bool> = const { Cell::new(false) };
}

/// Returns `true` if the params that this thread read last became a struct all of whose names serde
/// knows.
pub(crate) fn was_read_as_struct() -> bool {
    IS_STRUCT.get()
}

/// Reads a value of a certain kind, for which a loose text may stand.
macro_rules! loose {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ParamError> {
            match &self {
                Param::Loose(text) => match parsed(text) {
                    Some(value) => value.deserialize_any(visitor),
                    None => self.deserialize_any(visitor),
                },
                _ => self.deserialize_any(visitor),
            }
        }
    )*};
}

/// The number or the boolean that a text represents.
fn parsed(text: &SecretString) -> Option<Param> {
    let text = text.expose_secret();
    match text {
        "true" => Some(Param::Bool(true)),
        "false" => Some(Param::Bool(false)),
        _ => text.parse().ok().map(Param::Number),
    }
}

impl<'de> Deserializer<'de> for Param {
    type Error = ParamError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ParamError> {
        match self {
            Param::Null => visitor.visit_unit(),
            Param::Bool(value) => visitor.visit_bool(value),
            Param::Number(number) => visit_number(&number, visitor),
            Param::Text(text) => visitor.visit_string(text),
            Param::Loose(text) => visitor.visit_str(text.expose_secret()),
            Param::List(items) => visit_list(items, visitor),
            Param::Object(fields) => visit_object(Fields::new(fields), visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ParamError> {
        match self {
            Param::Null => visitor.visit_none(),
            some => visitor.visit_some(some),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ParamError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ParamError> {
        match self {
            Param::Text(text) => visitor.visit_enum(StringDeserializer::new(text)),
            Param::Loose(text) => visitor.visit_enum(StrDeserializer::new(text.expose_secret())),
            Param::Object(fields) if fields.len() == 1 => {
                visitor.visit_enum(MapAccessDeserializer::new(Fields::new(fields)))
            }
            Param::Object(fields) => Err(ParamError::custom(format_args!(
                "this object has {} fields, expected one with the name of a variant",
                fields.len()
            ))),
            other => other.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ParamError> {
        match self {
            Param::Object(fields) => visit_object(Fields::of_struct(fields, names), visitor),
            other => other.deserialize_any(visitor),
        }
    }

    loose! {
        deserialize_bool
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map
        identifier ignored_any
    }
}

fn visit_number<'de, V: Visitor<'de>>(number: &Number, visitor: V) -> Result<V::Value, ParamError> {
    if let Some(number) = number.as_u64() {
        visitor.visit_u64(number)
    } else if let Some(number) = number.as_i64() {
        visitor.visit_i64(number)
    } else if let Some(number) = number.as_f64() {
        visitor.visit_f64(number)
    } else {
        Err(ParamError::custom("this number is too large"))
    }
}

fn visit_list<'de, V: Visitor<'de>>(items: Vec<Param>, visitor: V) -> Result<V::Value, ParamError> {
    let length = items.len();
    let mut items = Items {
        items: items.into_iter().enumerate(),
    };
    let value = visitor.visit_seq(&mut items)?;
    match items.items.len() {
        0 => Ok(value),
        left => {
            let expected = format!("a list of {}", length - left);
            Err(ParamError::invalid_length(length, &&*expected))
        }
    }
}

fn visit_object<'de, V: Visitor<'de>>(
    mut fields: Fields,
    visitor: V,
) -> Result<V::Value, ParamError> {
    let length = fields.fields.len();
    let is_struct = !fields.names.is_empty();
    let value = visitor.visit_map(&mut fields)?;
    // The outermost object is completed last.
    IS_STRUCT.set(is_struct);
    match fields.fields.len() {
        0 => Ok(value),
        left => {
            let expected = format!("an object with {} fields", length - left);
            Err(ParamError::invalid_length(length, &&*expected))
        }
    }
}

struct Items {
    items: std::iter::Enumerate<std::vec::IntoIter<Param>>,
}

impl<'de> SeqAccess<'de> for Items {
    type Error = ParamError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ParamError> {
        let Some((index, item)) = self.items.next() else {
            return Ok(None);
        };
        let value = seed.deserialize(item);
        let value = value.inspect(|_| accepted());
        value.map(Some).map_err(|error| error.within(index))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

struct Fields {
    fields: std::vec::IntoIter<(String, Param)>,
    /// The field whose name was read last.
    current: Option<(String, Param)>,
    /// The possible names of the fields, if they belong to a struct.
    names: &'static [&'static str],
    /// True if the last name was read by a type that ignores it.
    is_ignored: bool,
}

impl Fields {
    fn new(fields: Vec<(String, Param)>) -> Self {
        Fields::of_struct(fields, &[])
    }

    fn of_struct(fields: Vec<(String, Param)>, names: &'static [&'static str]) -> Self {
        Fields {
            fields: fields.into_iter(),
            current: None,
            names,
            is_ignored: false,
        }
    }
}

/// Returns `true` for a type that reads any value and forgets it.
fn ignores<T>() -> bool {
    type_name::<T>() == type_name::<IgnoredAny>()
}

impl<'de> MapAccess<'de> for Fields {
    type Error = ParamError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ParamError> {
        let Some((name, value)) = self.fields.next() else {
            return Ok(None);
        };
        self.is_ignored = ignores::<K::Value>();
        let key = seed.deserialize(Param::Loose(name.as_str().into()));
        let key = key.map_err(|error| error.of_name(&name))?;
        self.current = Some((name, value));
        Ok(Some(key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, ParamError> {
        match self.current.take() {
            // A struct ignores the values of names that it does not have.
            Some((name, _)) if ignores::<V::Value>() && !self.is_ignored => {
                Err(ParamError::unknown_field(&name, self.names).of_name(&name))
            }
            Some((name, value)) => {
                let value = seed.deserialize(value);
                let value = value.inspect(|_| accepted());
                value.map_err(|error| error.within(name))
            }
            None => Err(ParamError::custom("a value was read before its name")),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.fields.len())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fmt::Debug;

    use serde::Deserialize;
    use serde::de::{DeserializeOwned, IgnoredAny};
    use serde_json::{Value, json};

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Unit;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Wrapper(i64);

    #[derive(Debug, Deserialize, PartialEq)]
    struct Pair(u8, String);

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Fields {
        a: u8,
        #[serde(default)]
        b: Option<Box<Fields>>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    enum Outside {
        Unit,
        One(u8),
        Two(u8, String),
        Named { a: u8 },
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(tag = "kind")]
    enum Inside {
        Unit,
        Named { a: u8 },
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(tag = "kind", content = "of")]
    enum Beside {
        Unit,
        One(Vec<u8>),
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(untagged)]
    enum Any {
        Number(u8),
        Text(String),
        Fields(Fields),
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Flat {
        #[serde(flatten)]
        fields: Fields,
        #[serde(flatten)]
        rest: BTreeMap<String, Value>,
    }

    fn param(value: &Value) -> Param {
        match value {
            Value::Null => Param::Null,
            Value::Bool(value) => Param::Bool(*value),
            Value::Number(value) => Param::Number(value.clone()),
            Value::String(value) => Param::Text(value.clone()),
            Value::Array(items) => Param::List(items.iter().map(param).collect()),
            Value::Object(fields) => {
                let fields = fields.iter();
                Param::Object(
                    fields
                        .map(|(name, value)| (name.clone(), param(value)))
                        .collect(),
                )
            }
        }
    }

    fn values() -> Vec<Value> {
        let plain = vec![
            json!(null),
            json!(true),
            json!(0),
            json!(7),
            json!(-7),
            json!(300),
            json!(u64::MAX),
            json!(i64::MIN),
            json!(1.5),
            json!(1e300),
            json!(""),
            json!("7"),
            json!("x"),
            json!("Unit"),
            json!("One"),
            json!([]),
            json!([7]),
            json!([7, "x"]),
            json!([7, "x", null]),
            json!({}),
            json!({ "a": 7 }),
            json!({ "a": 7, "b": { "a": 8 } }),
            json!({ "a": "7" }),
            json!({ "7": "x", "-1": "y" }),
            json!({ "kind": "Unit" }),
            json!({ "kind": "Named", "a": 7 }),
            json!({ "kind": "One", "of": [7] }),
        ];
        let variants = ["Unit", "One", "Two", "Named"]
            .into_iter()
            .flat_map(|name| {
                let values = plain.iter();
                values.map(move |value| json!({ (name): value }))
            });
        let variants: Vec<Value> = variants.collect();
        let two = json!({ "One": 7, "Unit": null });
        plain.into_iter().chain(variants).chain([two]).collect()
    }

    fn compare<T: DeserializeOwned + Debug + PartialEq>() {
        for value in values() {
            // serde_json reads a variant with fields of a `Value` only from an object; from text,
            // also from a list.
            if value["Named"].is_array() {
                continue;
            }
            let expected = serde_json::from_value::<T>(value.clone());
            let found = T::deserialize(param(&value));
            let name = std::any::type_name::<T>();
            assert_eq!(found.ok(), expected.ok(), "{name} of {value}");
        }
    }

    #[test]
    fn params_are_read_as_json_is() {
        compare::<()>();
        compare::<bool>();
        compare::<(u8, i8, u64)>();
        compare::<u8>();
        compare::<i128>();
        compare::<f32>();
        compare::<f64>();
        compare::<char>();
        compare::<String>();
        compare::<Option<u8>>();
        compare::<Option<Option<String>>>();
        compare::<Option<()>>();
        compare::<Vec<u8>>();
        compare::<(u8, String)>();
        compare::<[u8; 1]>();
        compare::<BTreeMap<i8, String>>();
        compare::<BTreeMap<String, Value>>();
        compare::<BTreeMap<char, u8>>();
        compare::<BTreeMap<Option<u8>, Value>>();
        compare::<Value>();
        compare::<IgnoredAny>();
        compare::<Unit>();
        compare::<Wrapper>();
        compare::<Pair>();
        compare::<Fields>();
        compare::<Outside>();
        compare::<Inside>();
        compare::<Beside>();
        compare::<Any>();
        compare::<Flat>();
    }
}
