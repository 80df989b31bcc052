//! JSON: its values as `serde_json` reads them, and their places from a walk over the same text.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;

use crate::content::{Content, MOST_VALUES, too_many, twice};
use crate::problem::{Found, Place, Problem, begins_character, characters};
use crate::tree::{Field, Inside, Mark, Path, Tree};

/// Reads JSON.
///
/// # Errors
///
/// The text is not JSON, has too many values, or is nested deeper than `serde_json` reads.
pub(crate) fn read(text: &str) -> Result<Content, Problem> {
    if let Some(at) = one_too_many(text) {
        return Err(too_many(Place::of(text.as_bytes(), at)));
    }
    let value: Value = serde_json::from_str(text).map_err(|error| no_json(text, &error))?;
    let mut walk = Walk {
        text,
        at: 0,
        mark: (1, 1),
        found: Found::default(),
    };
    let tree = walk.value(&Path::Document);
    Ok(Content {
        value,
        tree,
        found: walk.found,
        lost: None,
    })
}

/// The offset of the value that exceeds the maximum number of values and names. It follows a mark
/// outside of strings.
fn one_too_many(text: &str) -> Option<usize> {
    let (mut is_string, mut is_escaped) = (false, false);
    let is_mark = |(_, byte): &(usize, u8)| {
        let is_outside = !is_string;
        match byte {
            _ if is_escaped => is_escaped = false,
            b'"' => is_string = !is_string,
            b'\\' => is_escaped = is_string,
            _ => {}
        }
        is_outside && matches!(byte, b',' | b':' | b'[' | b'{')
    };
    let mut marks = text.bytes().enumerate().filter(is_mark);
    marks.nth(MOST_VALUES).map(|(at, _)| at)
}

fn no_json(text: &str, error: &serde_json::Error) -> Problem {
    let line = text.split('\n').nth(error.line().saturating_sub(1));
    let line = line.unwrap_or_default().as_bytes();
    // `serde_json` counts bytes.
    let before = &line[..error.column().saturating_sub(1).min(line.len())];
    let place = Place {
        line: error.line().max(1),
        column: characters(before) + 1,
    };
    let said = error.to_string();
    let what = said.split(" at line ").next().unwrap_or(&said);
    match what {
        "recursion limit exceeded" => {
            Problem::new(place, "", "lists and objects stand too deep in one another")
        }
        _ => Problem::new(place, "", format!("this is not JSON: {what}")),
    }
}

/// A walk over text that is known to be JSON.
struct Walk<'a> {
    text: &'a str,
    at: usize,
    /// The line and the column of the byte at `at`.
    mark: (usize, usize),
    found: Found,
}

impl<'a> Walk<'a> {
    fn value(&mut self, path: &Path<'_>) -> Tree {
        let first = self.peek();
        let mark = self.mark();
        let inside = match first {
            b'[' => Inside::List(self.list(path)),
            b'{' => Inside::Object(self.object(path)),
            b'"' => {
                self.string();
                Inside::Scalar
            }
            _ => {
                while !matches!(self.byte(), Some(b',' | b']' | b'}') | None) {
                    self.step();
                }
                Inside::Scalar
            }
        };
        Tree { mark, inside }
    }

    fn list(&mut self, path: &Path<'_>) -> Vec<Tree> {
        let mut items = Vec::new();
        self.step();
        while self.peek() != b']' {
            items.push(self.value(&Path::Item(path, items.len())));
            if self.peek() == b',' {
                self.step();
            }
        }
        self.step();
        items
    }

    fn object(&mut self, path: &Path<'_>) -> Vec<Field> {
        let mut fields = Vec::new();
        let mut first: HashMap<Cow<'a, str>, Mark> = HashMap::new();
        self.step();
        while self.peek() != b'}' {
            let mark = self.mark();
            let name = self.string();
            match first.get(&name) {
                Some(first) => self.found.push(twice(&path.pointer(), &name, *first, mark)),
                None => drop(first.insert(name.clone(), mark)),
            }
            self.peek();
            self.step(); // the colon
            let value = self.value(&Path::Field(path, &name));
            let name = name.into();
            fields.push(Field { name, mark, value });
            if self.peek() == b',' {
                self.step();
            }
        }
        self.step();
        fields
    }

    /// A string in quotes, and its content.
    fn string(&mut self) -> Cow<'a, str> {
        let from = self.at;
        let mut is_escaped = false;
        self.step();
        while self.byte() != Some(b'"') {
            if self.byte() == Some(b'\\') {
                is_escaped = true;
                self.step();
            }
            self.step();
        }
        self.step();
        let written = &self.text[from..self.at];
        if is_escaped {
            let content = serde_json::from_str(written);
            Cow::Owned(content.unwrap_or_else(|_| unreachable!("{written} was read before")))
        } else {
            Cow::Borrowed(&written[1..written.len() - 1])
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Moves to the first byte that is not space, and returns it.
    fn peek(&mut self) -> u8 {
        loop {
            match self.byte() {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.step(),
                Some(byte) => return byte,
                None => unreachable!("the text was read before, and something has to follow here"),
            }
        }
    }

    fn step(&mut self) {
        match self.byte() {
            Some(b'\n') => self.mark = (self.mark.0 + 1, 1),
            Some(byte) if begins_character(byte) => self.mark.1 += 1,
            _ => {}
        }
        self.at += 1;
    }

    fn mark(&self) -> Mark {
        Mark::new(self.mark.0, self.mark.1)
    }
}
