//! A deserializer that notes what a type requests.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::{Content, Field, Shape, Variant};

/// The types that are being read, from the innermost to the outermost. A type that contains itself
/// is not read again inside itself.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    name: &'static str,
    parts: &'static [&'static str],
    outer: Option<&'a Around<'a>>,
}

/// Notes what a type requests.
pub(super) struct Probe<'a> {
    pub(super) shape: &'a mut Shape,
    pub(super) around: Option<&'a Around<'a>>,
}

/// The error of a read that has nothing to read.
#[derive(Debug)]
pub(super) struct Nothing;

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
    /// Adds a type to those around. `None` if it is among them already.
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
        *self.shape = Shape::Any;
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
        *self.shape = Shape::Any;
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

/// The fields of a struct. The first unknown one comes before the others, because a value that
/// cannot be made up ends the read.
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
            // The field was not even requested.
            *shape = Shape::Any;
        }
        result
    }
}

/// A list of one item, or of none if the item is known.
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
                self.variant.content = Content::Value(Shape::Any);
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
        self.variant.content = Content::Value(Shape::Any);
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
