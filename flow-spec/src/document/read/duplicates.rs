//! Finds names that occur twice in one object.
//!
//! `serde_json` silently keeps the last value, so the author's first one would be lost. The text is
//! therefore read again, only for its names.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::diagnostic::Code;
use crate::document::problem::{Problem, Problems, inside};

/// Reports each repeated name of an object. The text has to be JSON.
pub(super) fn find(text: &str, problems: &mut Problems) {
    let place = &Place::Document;
    let names = Names { place, problems };
    // Errors in the text are reported elsewhere.
    let _ = names.deserialize(&mut serde_json::Deserializer::from_str(text));
}

/// The place of a value. Its pointer is built only for a problem, because there can be many values
/// under a long name.
enum Place<'a> {
    Document,
    Item(&'a Place<'a>, usize),
    Field(&'a Place<'a>, &'a str),
}

impl Place<'_> {
    fn pointer(&self) -> String {
        match self {
            Place::Document => String::new(),
            Place::Item(list, index) => inside(&list.pointer(), index),
            Place::Field(object, name) => inside(&object.pointer(), name),
        }
    }
}

/// A value whose names alone are read.
struct Names<'a, 'p> {
    place: &'a Place<'a>,
    problems: &'p mut Problems,
}

impl<'de> DeserializeSeed<'de> for Names<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Names<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = HashSet::new();
        while let Some(name) = map.next_key::<String>()? {
            if seen.contains(&name) {
                self.problems.push(twice(&name, self.place));
                if self.problems.is_full() {
                    return Err(A::Error::custom("that is enough"));
                }
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            map.next_value_seed(Names {
                place: &Place::Field(self.place, &name),
                problems: self.problems,
            })?;
            seen.insert(name);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        for index in 0.. {
            let item = Names {
                place: &Place::Item(self.place, index),
                problems: self.problems,
            };
            if list.next_element_seed(item)?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

fn twice(name: &str, object: &Place<'_>) -> Problem {
    let message = format!("`{name}` stands twice in this object");
    let pointer = Place::Field(object, name).pointer();
    Problem::new(Code::Document, pointer, message)
        .of_name()
        .help("remove one of them: only one could be read, and the other would be lost")
}
