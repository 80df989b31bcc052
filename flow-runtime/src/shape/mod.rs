//! The shape of a type as serde sees it. It is found by reading the type from a deserializer that
//! notes what the type requests.
//!
//! A struct requests its fields by name, an enum its variants. The hard thing is that one read
//! takes only one variant of each enum, and ends at the first value that cannot be made up. So the
//! type is read repeatedly, each time through something that is not known yet. A type that requests
//! nothing in particular, such as an internally tagged enum, is JSON for the person who fills it
//! in.

mod probe;
mod schema;

use serde::de;

use probe::Probe;

/// The maximum number of reads of a type. Parts that are still unknown then are JSON.
const READS: usize = 1000;

/// The way in which a value of a type is filled in.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Not known yet. Never in the result of [`shape_of`].
    Unknown,
    /// There is only one value.
    Unit,
    /// `true` or `false`.
    Bool,
    /// An integer in a range.
    Integer {
        /// The least value.
        least: i128,
        /// The greatest value.
        greatest: i128,
    },
    /// A number that need not be an integer.
    Number,
    /// A text of one character.
    Char,
    /// A text.
    Text,
    /// The value may be left out.
    Option(Box<Shape>),
    /// Values by name.
    Struct(Vec<Field>),
    /// One of several variants.
    Enum(Vec<Variant>),
    /// Any number of items.
    List(Box<Shape>),
    /// Anything else.
    Any,
}

/// A field of a struct or of a variant.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name in JSON.
    pub name: &'static str,
    /// The shape of its value.
    pub shape: Shape,
}

/// A variant of an enum.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// Its name in JSON.
    pub name: &'static str,
    /// Its content.
    pub content: Content,
}

/// The content of a variant.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Not known yet. Never in the result of [`shape_of`].
    Unknown,
    /// No content.
    Unit,
    /// One value, or several without names.
    Value(Shape),
    /// Values by name.
    Fields(Vec<Field>),
}

/// The shape of the type whose values this function reads, such as
/// [`Question::read`](crate::Question::read).
pub fn shape_of(
    mut read: impl FnMut(&mut dyn erased_serde::Deserializer<'_>) -> Result<(), erased_serde::Error>,
) -> Shape {
    let mut shape = Shape::Unknown;
    for _ in 0..READS {
        let probe = Probe {
            shape: &mut shape,
            around: None,
        };
        // The result of the read does not matter: the type has already requested what it needs.
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

    /// Turns all parts that are still unknown into JSON.
    fn settle(&mut self) {
        match self {
            Shape::Unknown => *self = Shape::Any,
            Shape::Option(inner) | Shape::List(inner) => inner.settle(),
            Shape::Struct(fields) => fields.iter_mut().for_each(|field| field.shape.settle()),
            Shape::Enum(variants) => {
                for variant in variants {
                    match &mut variant.content {
                        Content::Unknown => variant.content = Content::Value(Shape::Any),
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

/// The shape of a type.
///
/// # Examples
///
/// ```
/// use flow_runtime::shape::{Content, Shape, shape_of_type};
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// # #[expect(dead_code)]
/// enum Approval {
///     Approved { by: String },
///     Refused,
/// }
///
/// let Shape::Enum(variants) = shape_of_type::<Approval>() else { panic!() };
/// assert_eq!(variants[1].content, Content::Unit);
/// ```
pub fn shape_of_type<T: de::DeserializeOwned>() -> Shape {
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
            ("pair", Content::Value(Shape::Any)),
            ("other", Content::Value(way())),
        ]);
        let line = Shape::Struct(fields([
            ("text", Shape::Text),
            ("inner", list(Shape::Any)),
            ("after", option(Shape::Any)),
        ]));
        let expected = fields([
            ("type", kind),
            ("date", Shape::Text),
            ("second_date", option(Shape::Text)),
            ("count", integer(0, u16::MAX.into())),
            ("price", Shape::Number),
            ("lines", list(line)),
            ("by_name", Shape::Any),
            ("pair", Shape::Any),
            ("letter", Shape::Char),
            ("paid", Shape::Bool),
            ("nothing", Shape::Unit),
            ("wrapped", integer(-128, 127)),
        ]);
        assert_eq!(shape_of_type::<Order>(), Shape::Struct(expected));
    }

    #[test]
    fn what_has_no_shape_of_its_own_is_json() {
        assert_eq!(shape_of_type::<Tagged>(), Shape::Any);
        assert_eq!(shape_of_type::<Untagged>(), Shape::Any);
        assert_eq!(shape_of_type::<serde_json::Value>(), Shape::Any);
        assert_eq!(shape_of_type::<u128>(), Shape::Any);
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
