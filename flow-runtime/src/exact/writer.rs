//! A serializer that passes on what JSON can express, and refuses the rest.

use std::fmt::Display;

use serde::ser::{Error as _, Serialize, Serializer};

use super::parts::{Part, Parts};
use super::place::{Place, Segment};

/// Writes to a serializer of JSON.
pub(super) struct Writer<'p, S> {
    inner: S,
    place: &'p Place,
    /// True for the value in a `Some`, which may not be `null`.
    in_some: bool,
}

impl<'p, S: Serializer> Writer<'p, S> {
    pub(super) fn new(inner: S, place: &'p Place) -> Self {
        Writer {
            inner,
            place,
            in_some: false,
        }
    }

    /// Returns this writer for a value that is in a `Some`, or is not.
    pub(super) fn in_some(self, in_some: bool) -> Self {
        Writer { in_some, ..self }
    }

    fn parts<C>(
        self,
        begin: impl FnOnce(S) -> Result<C, S::Error>,
    ) -> Result<Parts<'p, C>, S::Error> {
        Ok(Parts::new(begin(self.inner)?, self.place))
    }

    fn null(&self) -> Result<(), S::Error> {
        if self.in_some {
            let reason = "JSON writes the value in this `Some` as `null`, which is read as `None`";
            return Err(S::Error::custom(reason));
        }
        Ok(())
    }
}

/// Refuses a number that is not finite.
fn finite<E: serde::ser::Error>(number: f64) -> Result<(), E> {
    if number.is_finite() {
        return Ok(());
    }
    Err(E::custom(format!("JSON has no number {number}")))
}

fn too_large<E: serde::ser::Error>(number: impl Display) -> E {
    E::custom(format!(
        "the number {number} has more than 64 bits, which cannot be stored: make it a text"
    ))
}

/// The name under which serde_json writes its `RawValue` as a struct.
const RAW: &str = "$serde_json::private::RawValue";

macro_rules! pass_on {
    ($($method:ident $type:ty,)*) => {
        $(fn $method(self, value: $type) -> Result<S::Ok, S::Error> {
            self.inner.$method(value)
        })*
    };
}

impl<'p, S: Serializer> Serializer for Writer<'p, S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Parts<'p, S::SerializeSeq>;
    type SerializeTuple = Parts<'p, S::SerializeTuple>;
    type SerializeTupleStruct = Parts<'p, S::SerializeTupleStruct>;
    type SerializeTupleVariant = Parts<'p, S::SerializeTupleVariant>;
    type SerializeMap = Parts<'p, S::SerializeMap>;
    type SerializeStruct = Parts<'p, S::SerializeStruct>;
    type SerializeStructVariant = Parts<'p, S::SerializeStructVariant>;

    pass_on! {
        serialize_bool bool,
        serialize_i8 i8,
        serialize_i16 i16,
        serialize_i32 i32,
        serialize_i64 i64,
        serialize_u8 u8,
        serialize_u16 u16,
        serialize_u32 u32,
        serialize_u64 u64,
        serialize_char char,
        serialize_str &str,
        serialize_bytes &[u8],
    }

    fn serialize_i128(self, value: i128) -> Result<S::Ok, S::Error> {
        match (u64::try_from(value), i64::try_from(value)) {
            (Ok(value), _) => self.inner.serialize_u64(value),
            (_, Ok(value)) => self.inner.serialize_i64(value),
            _ => Err(too_large(value)),
        }
    }

    fn serialize_u128(self, value: u128) -> Result<S::Ok, S::Error> {
        match u64::try_from(value) {
            Ok(value) => self.inner.serialize_u64(value),
            Err(_) => Err(too_large(value)),
        }
    }

    fn serialize_f32(self, value: f32) -> Result<S::Ok, S::Error> {
        finite(value.into())?;
        self.inner.serialize_f32(value)
    }

    fn serialize_f64(self, value: f64) -> Result<S::Ok, S::Error> {
        finite(value)?;
        self.inner.serialize_f64(value)
    }

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.null()?;
        self.inner.serialize_none()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        let part = Part::new(value, self.place).in_some(true);
        self.inner.serialize_some(&part)
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.null()?;
        self.inner.serialize_unit()
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<S::Ok, S::Error> {
        self.null()?;
        self.inner.serialize_unit_struct(name)
    }

    fn serialize_unit_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit_variant(name, index, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let part = Part::new(value, self.place).in_some(self.in_some);
        self.inner.serialize_newtype_struct(name, &part)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let part = Part::new(value, self.place);
        self.place.at(Segment::Name(variant), || {
            self.inner
                .serialize_newtype_variant(name, index, variant, &part)
        })
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        self.parts(|inner| inner.serialize_seq(len))
    }

    fn serialize_tuple(self, len: usize) -> Result<Self::SerializeTuple, S::Error> {
        self.parts(|inner| inner.serialize_tuple(len))
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleStruct, S::Error> {
        self.parts(|inner| inner.serialize_tuple_struct(name, len))
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        let parts = self.parts(|inner| inner.serialize_tuple_variant(name, index, variant, len))?;
        Ok(parts.of_variant(variant))
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        self.parts(|inner| inner.serialize_map(len))
    }

    fn serialize_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStruct, S::Error> {
        let parts = self.parts(|inner| inner.serialize_struct(name, len))?;
        Ok(if name == RAW {
            parts.of_raw_json()
        } else {
            parts
        })
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        let parts =
            self.parts(|inner| inner.serialize_struct_variant(name, index, variant, len))?;
        Ok(parts.of_variant(variant))
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.inner.collect_str(value)
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}
