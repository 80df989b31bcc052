//! The parts of a value that is being written.

use std::collections::BTreeSet;

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::Value;

use super::place::{Place, Segment};
use super::writer::Writer;

/// A part of a value.
pub(super) struct Part<'a, T: ?Sized> {
    value: &'a T,
    place: &'a Place,
    in_some: bool,
}

impl<'a, T: ?Sized> Part<'a, T> {
    pub(super) fn new(value: &'a T, place: &'a Place) -> Self {
        Part {
            value,
            place,
            in_some: false,
        }
    }

    pub(super) fn in_some(self, in_some: bool) -> Self {
        Part { in_some, ..self }
    }
}

impl<T: Serialize + ?Sized> Serialize for Part<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let writer = Writer::new(serializer, self.place).in_some(self.in_some);
        self.value.serialize(writer)
    }
}

/// The parts of a list, a map, a struct or a variant.
pub(super) struct Parts<'p, C> {
    inner: C,
    place: &'p Place,
    /// The variant to which the parts belong.
    variant: Option<&'static str>,
    /// The number of items so far.
    items: usize,
    /// The keys of a map so far, and the last one.
    keys: BTreeSet<String>,
    key: String,
    is_raw_json: bool,
}

impl<'p, C> Parts<'p, C> {
    pub(super) fn new(inner: C, place: &'p Place) -> Self {
        Parts {
            inner,
            place,
            variant: None,
            items: 0,
            keys: BTreeSet::new(),
            key: String::new(),
            is_raw_json: false,
        }
    }

    pub(super) fn of_variant(self, variant: &'static str) -> Self {
        Parts {
            variant: Some(variant),
            ..self
        }
    }

    pub(super) fn of_raw_json(self) -> Self {
        Parts {
            is_raw_json: true,
            ..self
        }
    }

    fn part<T, E>(
        &mut self,
        segment: Segment,
        write: impl FnOnce(&mut C) -> Result<T, E>,
    ) -> Result<T, E> {
        let (place, inner) = (self.place, &mut self.inner);
        let write = || place.at(segment, || write(inner));
        match self.variant {
            Some(variant) => place.at(Segment::Name(variant), write),
            None => write(),
        }
    }

    fn item<T, E>(&mut self, write: impl FnOnce(&mut C) -> Result<T, E>) -> Result<T, E> {
        let index = self.items;
        self.items += 1;
        self.part(Segment::Item(index), write)
    }
}

macro_rules! items {
    ($($trait:ident $method:ident,)*) => {
        $(impl<C: $trait> $trait for Parts<'_, C> {
            type Ok = C::Ok;
            type Error = C::Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
                let part = Part::new(value, self.place);
                self.item(|inner| inner.$method(&part))
            }

            fn end(self) -> Result<C::Ok, C::Error> {
                self.inner.end()
            }
        })*
    };
}

items! {
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field,
}

impl<C: SerializeMap> SerializeMap for Parts<'_, C> {
    type Ok = C::Ok;
    type Error = C::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), C::Error> {
        // A number as a key is written as text. `inner` refuses what cannot be a JSON key.
        let text = serde_json::to_string(key).unwrap_or_default();
        let same = text.trim_matches('"').to_owned();
        if !text.is_empty() && !self.keys.insert(same) {
            return Err(C::Error::custom(format!(
                "two keys have the text {text} in JSON"
            )));
        }
        self.key = text;
        self.inner.serialize_key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        let key = Segment::Key(std::mem::take(&mut self.key));
        let part = Part::new(value, self.place);
        self.part(key, |inner| inner.serialize_value(&part))
    }

    fn end(self) -> Result<C::Ok, C::Error> {
        self.inner.end()
    }
}

impl<C: SerializeStruct> SerializeStruct for Parts<'_, C> {
    type Ok = C::Ok;
    type Error = C::Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), C::Error> {
        if self.is_raw_json {
            is_plain(value).map_err(C::Error::custom)?;
            return self.inner.serialize_field(name, value);
        }
        let part = Part::new(value, self.place);
        self.part(Segment::Name(name), |inner| {
            inner.serialize_field(name, &part)
        })
    }

    fn skip_field(&mut self, name: &'static str) -> Result<(), C::Error> {
        self.inner.skip_field(name)
    }

    fn end(self) -> Result<C::Ok, C::Error> {
        self.inner.end()
    }
}

impl<C: SerializeStructVariant> SerializeStructVariant for Parts<'_, C> {
    type Ok = C::Ok;
    type Error = C::Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), C::Error> {
        let part = Part::new(value, self.place);
        self.part(Segment::Name(name), |inner| {
            inner.serialize_field(name, &part)
        })
    }

    fn skip_field(&mut self, name: &'static str) -> Result<(), C::Error> {
        self.inner.skip_field(name)
    }

    fn end(self) -> Result<C::Ok, C::Error> {
        self.inner.end()
    }
}

/// Checks that the text of raw JSON stays the same when it is read and written again.
fn is_plain<T: Serialize + ?Sized>(raw: &T) -> Result<(), String> {
    let Ok(Value::String(text)) = serde_json::to_value(raw) else {
        return Ok(());
    };
    let read: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let stored = read.to_string();
    if stored == text {
        return Ok(());
    }
    Err(
        "raw JSON is stored without spaces and with its keys in order, and this is not: parse it \
         into a `serde_json::Value`"
            .to_owned(),
    )
}
