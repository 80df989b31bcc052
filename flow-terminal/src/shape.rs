//! The shape of a type as serde sees it: found out by having the type read from a deserializer that
//! notes what is asked of it.
//!
//! A struct asks for its fields by name, an enum for its variants. The hard thing is that a type is
//! read in one go, which goes through one variant of each enum and ends at the first value that
//! cannot be made up. So it is read again and again, each time first through what is not known yet.
//! A type that asks for nothing in particular, as an internally tagged enum does, is JSON to
//! whoever fills it in.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

/// How often a type is read at most. What is not known then is JSON.
const READS: usize = 1000;

/// How a value of a type is filled in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// Nothing is known of it yet.
    Unknown,
    /// There is one value only.
    Unit,
    Bool,
    Integer {
        least: i128,
        greatest: i128,
    },
    Number,
    Char,
    Text,
    /// It may be left out.
    Option(Box<Shape>),
    Struct(Vec<Field>),
    Enum(Vec<Variant>),
    List(Box<Shape>),
    /// Anything else.
    Json,
}

/// A field of a struct or of a variant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
}

/// A variant of an enum.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    pub(crate) content: Content,
}

/// What a variant holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    /// That is not known yet.
    Unknown,
    Unit,
    /// One value, or several without names.
    Value(Shape),
    Fields(Vec<Field>),
}

/// The shape of a type, whose values are read by a function.
pub(crate) fn shape_of(
    mut read: impl FnMut(&mut dyn erased_serde::Deserializer<'_>) -> Result<(), erased_serde::Error>,
) -> Shape {
    let mut shape = Shape::Unknown;
    for _ in 0..READS {
        let probe = Probe {
            shape: &mut shape,
            around: None,
        };
        // Whether it could be read is of no interest: it has said what it is before.
        let _ = read(&mut <dyn erased_serde::Deserializer<'_>>::erase(probe));
        if shape.is_known() {
            break;
        }
    }
    shape.settle();
    shape
}

impl Shape {
    fn is_known(&self) -> bool {
        match self {
            Shape::Unknown => false,
            Shape::Option(inner) | Shape::List(inner) => inner.is_known(),
            Shape::Struct(fields) => fields.iter().all(|field| field.shape.is_known()),
            Shape::Enum(variants) => variants.iter().all(|variant| variant.content.is_known()),
            _ => true,
        }
    }

    /// What did not come to be known is JSON.
    fn settle(&mut self) {
        match self {
            Shape::Unknown => *self = Shape::Json,
            Shape::Option(inner) | Shape::List(inner) => inner.settle(),
            Shape::Struct(fields) => fields.iter_mut().for_each(|field| field.shape.settle()),
            Shape::Enum(variants) => {
                for variant in variants {
                    match &mut variant.content {
                        Content::Unknown => variant.content = Content::Value(Shape::Json),
                        Content::Unit => {}
                        Content::Value(shape) => shape.settle(),
                        Content::Fields(fields) => {
                            fields.iter_mut().for_each(|field| field.shape.settle());
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

impl Content {
    fn is_known(&self) -> bool {
        match self {
            Content::Unknown => false,
            Content::Unit => true,
            Content::Value(shape) => shape.is_known(),
            Content::Fields(fields) => fields.iter().all(|field| field.shape.is_known()),
        }
    }
}

/// The types that are being read, from the inside to the outside: one that contains itself is not
/// looked into again.
#[derive(Clone, Copy)]
struct Around<'a> {
    name: &'static str,
    parts: &'static [&'static str],
    outer: Option<&'a Around<'a>>,
}

/// Notes what is asked of it.
struct Probe<'a> {
    shape: &'a mut Shape,
    around: Option<&'a Around<'a>>,
}

/// There was nothing to read.
#[derive(Debug)]
struct Nothing;

impl fmt::Display for Nothing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing to read")
    }
}

impl std::error::Error for Nothing {}

impl de::Error for Nothing {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Nothing
    }
}

impl<'a> Probe<'a> {
    /// The same shape inside a type of this name; nothing if it is inside that type already.
    fn enter(&self, name: &'static str, parts: &'static [&'static str]) -> Option<Around<'a>> {
        let mut around = self.around;
        while let Some(one) = around {
            if (one.name, one.parts) == (name, parts) {
                return None;
            }
            around = one.outer;
        }
        Some(Around {
            name,
            parts,
            outer: self.around,
        })
    }

    fn stop<T>(self) -> Result<T, Nothing> {
        *self.shape = Shape::Json;
        Err(Nothing)
    }
}

macro_rules! integers {
    ($($method:ident $visit:ident $type:ident,)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Nothing> {
                *self.shape = Shape::Integer {
                    least: i128::from($type::MIN),
                    greatest: i128::from($type::MAX),
                };
                visitor.$visit(1)
            }
        )*
    };
}

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Nothing;

    integers! {
        deserialize_i8 visit_i8 i8,
        deserialize_i16 visit_i16 i16,
        deserialize_i32 visit_i32 i32,
        deserialize_i64 visit_i64 i64,
        deserialize_u8 visit_u8 u8,
        deserialize_u16 visit_u16 u16,
        deserialize_u32 visit_u32 u32,
        deserialize_u64 visit_u64 u64,
    }

    forward_to_deserialize_any! {
        i128 u128 bytes byte_buf tuple tuple_struct map identifier ignored_any
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Nothing> {
        *self.shape = Shape::Json;
        visitor.visit_unit()
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Nothing> {
        *self.shape = Shape::Bool;
        visitor.visit_bool(true)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Nothing> {
        *self.shape = Shape::Number;
        visitor.visit_f32(1.0)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Nothing> {
        *self.shape = Shape::Number;
        visitor.visit_f64(1.0)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Nothing> {
        *self.shape = Shape::Char;
        visitor.visit_char('a')
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Nothing> {
        *self.shape = Shape::Text;
        visitor.visit_str("")
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Nothing> {
        self.deserialize_str(visitor)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Nothing> {
        *self.shape = Shape::Unit;
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Nothing> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Nothing> {
        let Some(around) = self.enter(name, &[]) else {
            return self.stop();
        };
        visitor.visit_newtype_struct(Probe {
            shape: self.shape,
            around: Some(&around),
        })
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Nothing> {
        if !matches!(self.shape, Shape::Option(_)) {
            *self.shape = Shape::Option(Box::new(Shape::Unknown));
        }
        match self.shape {
            Shape::Option(inner) if !inner.is_known() => visitor.visit_some(Probe {
                shape: inner,
                around: self.around,
            }),
            _ => visitor.visit_none(),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Nothing> {
        if !matches!(self.shape, Shape::List(_)) {
            *self.shape = Shape::List(Box::new(Shape::Unknown));
        }
        let item = match self.shape {
            Shape::List(item) if !item.is_known() => Some(&mut **item),
            _ => None,
        };
        visitor.visit_seq(OneItem {
            item,
            around: self.around,
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Nothing> {
        let Some(around) = self.enter(name, names) else {
            return self.stop();
        };
        if !matches!(self.shape, Shape::Struct(_)) {
            *self.shape = Shape::Struct(unknown_fields(names));
        }
        match self.shape {
            Shape::Struct(fields) => visitor.visit_map(Fields::of(fields, &around)),
            _ => Err(Nothing),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Nothing> {
        let Some(around) = self.enter(name, names) else {
            return self.stop();
        };
        if !matches!(self.shape, Shape::Enum(_)) {
            let unknown = |&name: &&'static str| Variant {
                name,
                content: Content::Unknown,
            };
            *self.shape = Shape::Enum(names.iter().map(unknown).collect());
        }
        let Shape::Enum(variants) = self.shape else {
            return Err(Nothing);
        };
        let unknown = variants
            .iter()
            .position(|variant| !variant.content.is_known());
        match variants.get_mut(unknown.unwrap_or(0)) {
            Some(variant) => visitor.visit_enum(OneVariant {
                variant,
                around: &around,
            }),
            None => Err(Nothing),
        }
    }
}

fn unknown_fields(names: &'static [&'static str]) -> Vec<Field> {
    let unknown = |&name: &&'static str| Field {
        name,
        shape: Shape::Unknown,
    };
    names.iter().map(unknown).collect()
}

/// The fields of a struct, the first one that is not known before the others: what cannot be made
/// up ends the reading.
struct Fields<'a> {
    fields: &'a mut [Field],
    order: std::vec::IntoIter<usize>,
    current: usize,
    around: &'a Around<'a>,
}

impl<'a> Fields<'a> {
    fn of(fields: &'a mut [Field], around: &'a Around<'a>) -> Self {
        let (known, unknown): (Vec<usize>, Vec<usize>) =
            (0..fields.len()).partition(|&index| fields[index].shape.is_known());
        let order: Vec<usize> = unknown.into_iter().chain(known).collect();
        Fields {
            fields,
            order: order.into_iter(),
            current: 0,
            around,
        }
    }
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Nothing;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Nothing> {
        let Some(index) = self.order.next() else {
            return Ok(None);
        };
        self.current = index;
        let name = StrDeserializer::new(self.fields[index].name);
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Nothing> {
        let shape = &mut self.fields[self.current].shape;
        let result = seed.deserialize(Probe {
            shape: &mut *shape,
            around: Some(self.around),
        });
        if *shape == Shape::Unknown {
            // It was not even asked for.
            *shape = Shape::Json;
        }
        result
    }
}

/// A list of one item, or of none if it is known.
struct OneItem<'a> {
    item: Option<&'a mut Shape>,
    around: Option<&'a Around<'a>>,
}

impl<'de> SeqAccess<'de> for OneItem<'_> {
    type Error = Nothing;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Nothing> {
        let Some(shape) = self.item.take() else {
            return Ok(None);
        };
        let around = self.around;
        seed.deserialize(Probe { shape, around }).map(Some)
    }
}

/// One variant of an enum.
struct OneVariant<'a> {
    variant: &'a mut Variant,
    around: &'a Around<'a>,
}

impl<'de> EnumAccess<'de> for OneVariant<'_> {
    type Error = Nothing;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Nothing> {
        match seed.deserialize(StrDeserializer::new(self.variant.name)) {
            Ok(value) => Ok((value, self)),
            Err(error) => {
                self.variant.content = Content::Value(Shape::Json);
                Err(error)
            }
        }
    }
}

impl<'de> VariantAccess<'de> for OneVariant<'_> {
    type Error = Nothing;

    fn unit_variant(self) -> Result<(), Nothing> {
        self.variant.content = Content::Unit;
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Nothing> {
        if !matches!(self.variant.content, Content::Value(_)) {
            self.variant.content = Content::Value(Shape::Unknown);
        }
        match &mut self.variant.content {
            Content::Value(shape) => seed.deserialize(Probe {
                shape,
                around: Some(self.around),
            }),
            _ => Err(Nothing),
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Nothing> {
        self.variant.content = Content::Value(Shape::Json);
        Err(Nothing)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Nothing> {
        if !matches!(self.variant.content, Content::Fields(_)) {
            self.variant.content = Content::Fields(unknown_fields(names));
        }
        match &mut self.variant.content {
            Content::Fields(fields) => visitor.visit_map(Fields::of(fields, self.around)),
            _ => Err(Nothing),
        }
    }
}

#[cfg(test)]
pub(crate) fn shape_of_type<T: de::DeserializeOwned>() -> Shape {
    shape_of(|probe| erased_serde::deserialize::<T>(probe).map(drop))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::num::NonZeroU16;

    use serde::Deserialize;

    use super::*;

    /// A value that cannot be made up.
    #[derive(Deserialize)]
    #[serde(try_from = "String")]
    struct Date;

    impl TryFrom<String> for Date {
        type Error = String;

        fn try_from(text: String) -> Result<Self, String> {
            Err(format!("`{text}` is no date"))
        }
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its shape is of interest")]
    struct Order {
        #[serde(rename = "type")]
        kind: Kind,
        date: Date,
        second_date: Option<Date>,
        count: NonZeroU16,
        price: f64,
        lines: Vec<Line>,
        by_name: HashMap<String, u8>,
        pair: (u8, bool),
        letter: char,
        paid: bool,
        nothing: (),
        wrapped: Wrapped,
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its shape is of interest")]
    struct Wrapped(i8);

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its shape is of interest")]
    struct Line {
        text: String,
        inner: Vec<Line>,
        after: Option<Box<Line>>,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[expect(dead_code, reason = "only its shape is of interest")]
    enum Kind {
        Plain,
        Dated(Date),
        Sized {
            height: u64,
            dates: Vec<Date>,
            way: Way,
        },
        Pair(u8, u8),
        Other(Way),
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its shape is of interest")]
    enum Way {
        Left { steps: u8 },
        Right,
    }

    #[derive(Deserialize)]
    #[serde(tag = "kind")]
    #[expect(dead_code, reason = "only its shape is of interest")]
    enum Tagged {
        A { a: u8 },
    }

    #[derive(Deserialize)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only its shape is of interest")]
    enum Untagged {
        A(u8),
    }

    #[derive(Deserialize)]
    struct Unit;

    fn integer(least: i128, greatest: i128) -> Shape {
        Shape::Integer { least, greatest }
    }

    fn option(inner: Shape) -> Shape {
        Shape::Option(Box::new(inner))
    }

    fn list(inner: Shape) -> Shape {
        Shape::List(Box::new(inner))
    }

    fn fields<const N: usize>(fields: [(&'static str, Shape); N]) -> Vec<Field> {
        let field = |(name, shape)| Field { name, shape };
        fields.into_iter().map(field).collect()
    }

    fn variants<const N: usize>(variants: [(&'static str, Content); N]) -> Shape {
        let variant = |(name, content)| Variant { name, content };
        Shape::Enum(variants.into_iter().map(variant).collect())
    }

    fn way() -> Shape {
        let steps = fields([("steps", integer(0, 255))]);
        variants([("Left", Content::Fields(steps)), ("Right", Content::Unit)])
    }

    #[test]
    fn every_part_of_a_type_is_found() {
        let sized = fields([
            ("height", integer(0, u64::MAX.into())),
            ("dates", list(Shape::Text)),
            ("way", way()),
        ]);
        let kind = variants([
            ("plain", Content::Unit),
            ("dated", Content::Value(Shape::Text)),
            ("sized", Content::Fields(sized)),
            ("pair", Content::Value(Shape::Json)),
            ("other", Content::Value(way())),
        ]);
        let line = Shape::Struct(fields([
            ("text", Shape::Text),
            ("inner", list(Shape::Json)),
            ("after", option(Shape::Json)),
        ]));
        let expected = fields([
            ("type", kind),
            ("date", Shape::Text),
            ("second_date", option(Shape::Text)),
            ("count", integer(0, u16::MAX.into())),
            ("price", Shape::Number),
            ("lines", list(line)),
            ("by_name", Shape::Json),
            ("pair", Shape::Json),
            ("letter", Shape::Char),
            ("paid", Shape::Bool),
            ("nothing", Shape::Unit),
            ("wrapped", integer(-128, 127)),
        ]);
        assert_eq!(shape_of_type::<Order>(), Shape::Struct(expected));
    }

    #[test]
    fn what_has_no_shape_of_its_own_is_json() {
        assert_eq!(shape_of_type::<Tagged>(), Shape::Json);
        assert_eq!(shape_of_type::<Untagged>(), Shape::Json);
        assert_eq!(shape_of_type::<serde_json::Value>(), Shape::Json);
        assert_eq!(shape_of_type::<u128>(), Shape::Json);
    }

    #[test]
    fn simple_types_are_what_they_are() {
        assert_eq!(shape_of_type::<Unit>(), Shape::Unit);
        assert_eq!(
            shape_of_type::<Option<Vec<bool>>>(),
            option(list(Shape::Bool))
        );
        assert_eq!(shape_of_type::<Way>(), way());
        assert_eq!(shape_of_type::<Date>(), Shape::Text);
    }
}
