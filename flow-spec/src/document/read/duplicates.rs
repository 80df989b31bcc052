//! Names that stand twice in one object.
//!
//! `serde_json` keeps the last value and says nothing, so that what the author wrote first is lost. The text is
//! therefore gone through once more, for its names only.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::diagnostic::Code;
use crate::document::problem::{Problem, inside};

/// Every name that an object has a second time. The text has to be JSON.
pub(super) fn find(text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    let names = Names {
        pointer: String::new(),
        problems: &mut problems,
    };
    // Whether it can be read at all is not asked here, and said elsewhere.
    let _ = names.deserialize(&mut serde_json::Deserializer::from_str(text));
    problems
}

/// A value of which only the names are looked at.
struct Names<'p> {
    pointer: String,
    problems: &'p mut Vec<Problem>,
}

impl<'de> DeserializeSeed<'de> for Names<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Names<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = HashSet::new();
        while let Some(name) = map.next_key::<String>()? {
            let pointer = inside(&self.pointer, &name);
            if seen.contains(&name) {
                self.problems.push(twice(&name, pointer));
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            map.next_value_seed(Names {
                pointer,
                problems: self.problems,
            })?;
            seen.insert(name);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        for index in 0.. {
            let item = Names {
                pointer: inside(&self.pointer, index),
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

fn twice(name: &str, pointer: String) -> Problem {
    let message = format!("`{name}` stands twice in this object");
    Problem::new(Code::Document, pointer, message)
        .help("remove one of them: only one could be read, and the other would be lost")
}
