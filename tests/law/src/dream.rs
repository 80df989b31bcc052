//! Values of any type that is `Deserialize`, made up: a deserializer that answers whatever the type
//! asks for, and keeps what it said as JSON.

use std::sync::Arc;

use serde::de::value::{Error, StrDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer as _,
    MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde_json::{Map, Value};

/// What values are made of: words and numbers that mean something to the flows under test, since
/// they stand in the same source file, and a few others.
pub(crate) struct Literals {
    words: Vec<String>,
    numbers: Vec<u32>,
}

impl Literals {
    /// The literals of a source text.
    pub(crate) fn of(source: &str) -> Self {
        let mut words: Vec<String> = ["", "a", "some words here"].map(str::to_owned).into();
        let literals = source.split('"').skip(1).step_by(2);
        words.extend(literals.filter(|text| text.len() < 40).map(str::to_owned));
        let mut numbers: Vec<u32> = (0..8).collect();
        let digits = source.split(|letter: char| !letter.is_alphanumeric());
        let parsed = digits.filter_map(|text| text.parse::<u32>().ok());
        numbers.extend(parsed.filter(|number| *number < 2000));
        words.sort_unstable();
        words.dedup();
        numbers.sort_unstable();
        numbers.dedup();
        Literals { words, numbers }
    }
}

/// Chooses among literals.
pub(crate) struct Dice {
    random: fastrand::Rng,
    literals: Arc<Literals>,
}

impl Dice {
    pub(crate) fn new(literals: &Arc<Literals>, seed: u64) -> Self {
        Dice {
            random: fastrand::Rng::with_seed(seed),
            literals: literals.clone(),
        }
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.random.usize(..limit)
    }

    fn word(&mut self) -> String {
        let word = self.below(self.literals.words.len());
        self.literals.words[word].clone()
    }

    /// Half of all numbers are small, so that loops end and sums fit.
    fn number(&mut self) -> u32 {
        let number = if self.random.bool() {
            self.below(8)
        } else {
            self.below(self.literals.numbers.len())
        };
        self.literals.numbers[number]
    }
}

/// A value of a type, as JSON.
///
/// # Errors
///
/// The type does not accept what was made up.
pub(crate) fn dream<T: DeserializeOwned>(dice: &mut Dice) -> Result<Value, Error> {
    let mut said = Value::Null;
    let dream = Dream {
        dice,
        said: &mut said,
    };
    T::deserialize(dream).map(|_| said)
}

/// A deserializer that makes values up.
pub(crate) struct Dream<'a> {
    pub(crate) dice: &'a mut Dice,
    /// What was made up.
    pub(crate) said: &'a mut Value,
}

macro_rules! numbers {
    ($($method:ident $visit:ident $type:ty;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            let most = u32::try_from(<$type>::MAX).unwrap_or(u32::MAX);
            let number = self.dice.number().checked_rem(most).unwrap_or_default() as $type;
            let below_zero = <$type>::MIN != 0 && self.dice.below(5) == 0;
            let number = if below_zero { number.wrapping_neg() } else { number };
            *self.said = Value::from(number);
            visitor.$visit(number)
        }
    )*};
}

impl<'de> Deserializer<'de> for Dream<'_> {
    type Error = Error;

    numbers! {
        deserialize_i8 visit_i8 i8;
        deserialize_i16 visit_i16 i16;
        deserialize_i32 visit_i32 i32;
        deserialize_i64 visit_i64 i64;
        deserialize_u8 visit_u8 u8;
        deserialize_u16 visit_u16 u16;
        deserialize_u32 visit_u32 u32;
        deserialize_u64 visit_u64 u64;
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_u64(visitor)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let number = f64::from(self.dice.number()) / 2.0;
        *self.said = Value::from(number);
        visitor.visit_f64(number)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let holds = self.dice.random.bool();
        *self.said = Value::from(holds);
        visitor.visit_bool(holds)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let letter = self.dice.random.lowercase();
        *self.said = Value::from(letter.to_string());
        visitor.visit_char(letter)
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_string(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_string(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let word = self.dice.word();
        *self.said = Value::from(word.clone());
        visitor.visit_string(word)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("JSON has no bytes"))
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.dice.below(3) {
            0 => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let length = self.dice.below(5);
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let mut items = Items {
            dice: self.dice,
            left: length,
            said: Vec::new(),
        };
        let value = visitor.visit_seq(&mut items)?;
        *self.said = Value::Array(items.said);
        Ok(value)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let names = (0..self.dice.below(4)).map(|_| self.dice.word());
        let names: Vec<String> = names.collect();
        let mut fields = Fields::new(self.dice, names.iter().map(String::as_str));
        let value = visitor.visit_map(&mut fields)?;
        *self.said = Value::Object(fields.said);
        Ok(value)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let mut fields = Fields::new(self.dice, names.iter().copied());
        let value = visitor.visit_map(&mut fields)?;
        *self.said = Value::Object(fields.said);
        Ok(value)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if variants.is_empty() {
            return Err(Error::custom("there are no variants"));
        }
        let variant = variants[self.dice.below(variants.len())];
        visitor.visit_enum(Variant {
            dream: self,
            variant,
        })
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_string(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }
}

/// The items of a list.
struct Items<'a> {
    dice: &'a mut Dice,
    left: usize,
    said: Vec<Value>,
}

impl<'de> SeqAccess<'de> for &mut Items<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        let Some(left) = self.left.checked_sub(1) else {
            return Ok(None);
        };
        self.left = left;
        let mut said = Value::Null;
        let dream = Dream {
            dice: self.dice,
            said: &mut said,
        };
        let item = seed.deserialize(dream)?;
        self.said.push(said);
        Ok(Some(item))
    }
}

/// The fields of a struct, or the entries of a map.
struct Fields<'a, N> {
    dice: &'a mut Dice,
    names: N,
    name: &'a str,
    said: Map<String, Value>,
}

impl<'a, N: Iterator<Item = &'a str>> Fields<'a, N> {
    fn new(dice: &'a mut Dice, names: N) -> Self {
        Fields {
            dice,
            names,
            name: "",
            said: Map::new(),
        }
    }
}

impl<'de, 'a, N: Iterator<Item = &'a str>> MapAccess<'de> for &mut Fields<'a, N> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some(name) = self.names.next() else {
            return Ok(None);
        };
        self.name = name;
        let name: StrDeserializer<'_, Error> = name.into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let mut said = Value::Null;
        let dream = Dream {
            dice: self.dice,
            said: &mut said,
        };
        let value = seed.deserialize(dream)?;
        self.said.insert(self.name.to_owned(), said);
        Ok(value)
    }
}

/// A variant of an enum.
struct Variant<'a> {
    dream: Dream<'a>,
    variant: &'static str,
}

/// What a variant contains.
struct Content<'a> {
    dream: Dream<'a>,
    variant: &'static str,
}

impl<'de, 'a> EnumAccess<'de> for Variant<'a> {
    type Error = Error;
    type Variant = Content<'a>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Content<'a>), Error> {
        let Variant { dream, variant } = self;
        let name: StrDeserializer<'_, Error> = variant.into_deserializer();
        Ok((seed.deserialize(name)?, Content { dream, variant }))
    }
}

impl Content<'_> {
    /// The variant around what is in it.
    fn with<T>(self, inside: impl FnOnce(Dream<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let mut said = Value::Null;
        let value = inside(Dream {
            dice: self.dream.dice,
            said: &mut said,
        })?;
        *self.dream.said = Value::Object(Map::from_iter([(self.variant.to_owned(), said)]));
        Ok(value)
    }
}

impl<'de> VariantAccess<'de> for Content<'_> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        *self.dream.said = Value::from(self.variant);
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        self.with(|dream| seed.deserialize(dream))
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Error> {
        self.with(|dream| dream.deserialize_tuple(length, visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.with(|dream| dream.deserialize_struct("", names, visitor))
    }
}
