//! An object that is read field by field.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::diagnostic::Code;
use crate::document::problem::{Problem, Problems, inside};
use crate::suggest::closest;

/// An object whose fields are known.
pub struct Object<'a, 'p> {
    map: &'a Map<String, Value>,
    pointer: String,
    /// The fields that were misspelt. They are reported as such, not as missing.
    misspelt: Vec<&'static str>,
    /// The problems found.
    pub problems: &'p mut Problems,
}

impl<'a, 'p> Object<'a, 'p> {
    /// Reads an object that has only these fields. `None`, with a problem, if it is not an object.
    pub fn of(
        value: &'a Value,
        pointer: &str,
        what: &str,
        fields: &[&'static str],
        problems: &'p mut Problems,
    ) -> Option<Self> {
        let mut object = Object::open(value, pointer, what, problems)?;
        object.report_unknown(fields);
        Some(object)
    }

    /// Reads an object that may also have unknown fields.
    pub fn open(
        value: &'a Value,
        pointer: &str,
        what: &str,
        problems: &'p mut Problems,
    ) -> Option<Self> {
        let Value::Object(map) = value else {
            problems.push(wrong(pointer, what, "an object", value));
            return None;
        };
        Some(Object {
            map,
            pointer: pointer.to_owned(),
            misspelt: Vec::new(),
            problems,
        })
    }

    fn report_unknown(&mut self, fields: &[&'static str]) {
        for name in self.map.keys() {
            if self.problems.is_full() {
                return;
            }
            if fields.contains(&name.as_str()) {
                continue;
            }
            let is_free =
                |field: &&str| !self.map.contains_key(*field) && !self.misspelt.contains(field);
            let free = fields.iter().copied().filter(is_free);
            let meant = closest(name, free);
            let help = match meant {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("there is `{}`", fields.join("`, `")),
            };
            self.misspelt
                .extend(fields.iter().filter(|field| meant == Some(**field)));
            let message = format!("there is no field `{name}` here");
            let pointer = inside(&self.pointer, name);
            let problem = Problem::new(Code::Document, pointer, message).of_name();
            self.problems.push(problem.help(help));
        }
    }

    /// Returns the pointer of a field.
    pub fn at(&self, name: &str) -> String {
        inside(&self.pointer, name)
    }

    /// Returns `true` if the author wrote this field, even if it is misspelt.
    pub fn has(&self, name: &str) -> bool {
        self.map.contains_key(name) || self.is_misspelt(name)
    }

    /// Returns `true` if the author misspelt this field, so that its value is not known.
    pub fn is_misspelt(&self, name: &str) -> bool {
        self.misspelt.contains(&name)
    }

    /// Returns the other fields.
    pub fn others(&self, names: &[&str]) -> Map<String, Value> {
        let others = self.map.iter();
        others
            .filter(|(name, _)| !names.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// Reports a missing field.
    pub fn require(&mut self, name: &str, help: &str) {
        if !self.has(name) {
            let message = format!("`{name}` is missing");
            self.problems
                .push(Problem::new(Code::Document, &self.pointer, message).help(help));
        }
    }

    /// Returns the value of the field, as `read` returns it. `None` if the field is missing, or if
    /// `read` refuses its value, which is reported.
    pub fn value<T>(
        &mut self,
        name: &str,
        expected: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.map.get(name)?;
        let read = read(value);
        if read.is_none() {
            let what = format!("`{name}`");
            self.problems
                .push(wrong(&self.at(name), &what, expected, value));
        }
        read
    }

    /// Reads a text. Returns a blank one if the author wrote another type.
    pub fn text(&mut self, name: &str) -> Option<String> {
        let text = self.value(name, "a string", |value| value.as_str().map(str::to_owned));
        text.or_else(|| self.has(name).then(String::new))
    }

    /// Reads a text that is not empty.
    pub fn name(&mut self, name: &str) -> Option<String> {
        if self.map.get(name).and_then(Value::as_str) == Some("") {
            let message = format!("`{name}` is empty");
            self.problems
                .push(Problem::new(Code::Document, self.at(name), message));
        }
        self.text(name)
    }

    /// Reads a required text that is not empty.
    pub fn required_name(&mut self, name: &str, help: &str) -> String {
        self.require(name, help);
        self.name(name).unwrap_or_default()
    }

    /// Reads a flag. Returns `false` if it is missing.
    pub fn flag(&mut self, name: &str) -> bool {
        self.value(name, "true or false", Value::as_bool)
            .unwrap_or_default()
    }

    /// Reads an object.
    pub fn object(&mut self, name: &str) -> Option<&'a Map<String, Value>> {
        self.value(name, "an object", Value::as_object)
    }

    /// Reads an object whose values are texts.
    pub fn texts_by_name(&mut self, name: &str) -> Option<Map<String, Value>> {
        let map = self.object(name)?;
        for (key, value) in map {
            if self.problems.is_full() {
                break;
            }
            if !value.is_string() {
                let (pointer, what) = (inside(&self.at(name), key), format!("`{key}`"));
                self.problems
                    .push(wrong(&pointer, &what, "a string", value));
            }
        }
        Some(map.clone())
    }

    /// Like [`texts_by_name`](Self::texts_by_name), but no text may be empty.
    pub fn names_by_name(&mut self, name: &str) -> Option<Map<String, Value>> {
        let map = self.texts_by_name(name)?;
        for (key, _) in map.iter().filter(|(_, value)| *value == "") {
            if self.problems.is_full() {
                break;
            }
            let pointer = inside(&self.at(name), key);
            let message = format!("`{key}` is mapped to an empty name");
            self.problems
                .push(Problem::new(Code::Document, pointer, message));
        }
        Some(map)
    }

    /// Reads a list of names without duplicates.
    pub fn names(&mut self, name: &str) -> Vec<String> {
        let mut seen = HashSet::new();
        let names = self.list(name, |value, pointer, problems| {
            let Some(text) = value.as_str() else {
                let what = format!("an item of `{name}`");
                problems.push(wrong(pointer, &what, "a string", value));
                return String::new();
            };
            if text.is_empty() || !seen.insert(text) {
                let message = match text {
                    "" => format!("an item of `{name}` is empty"),
                    _ => format!("`{text}` stands twice in `{name}`"),
                };
                problems.push(Problem::new(Code::Document, pointer, message));
            }
            text.to_owned()
        });
        names.unwrap_or_default()
    }

    /// Reads a field with a separate function.
    pub fn part<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&'a Value, &str, &mut Problems) -> T,
    ) -> Option<T> {
        let value = self.map.get(name)?;
        Some(read(value, &self.at(name), self.problems))
    }

    /// Reads a list with a function for its items, until there are more problems than are listed.
    pub fn list<T>(
        &mut self,
        name: &str,
        mut read: impl FnMut(&'a Value, &str, &mut Problems) -> T,
    ) -> Option<Vec<T>> {
        let list = self.value(name, "a list", Value::as_array)?;
        let pointer = self.at(name);
        let mut items = Vec::new();
        for (index, item) in list.iter().enumerate() {
            if self.problems.is_full() {
                break;
            }
            items.push(read(item, &inside(&pointer, index), self.problems));
        }
        Some(items)
    }
}

/// The maximum length of a text that a message quotes.
const LONGEST_QUOTE: usize = 40;

/// The problem of a value that differs from the expected one.
pub fn wrong(pointer: &str, what: &str, expected: &str, found: &Value) -> Problem {
    let found = match found {
        Value::Null | Value::Bool(_) | Value::Number(_) => found.to_string(),
        Value::String(text) if text.len() <= LONGEST_QUOTE => found.to_string(),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    let message = format!("{what} is {found}, and should be {expected}");
    Problem::new(Code::Document, pointer, message)
}
