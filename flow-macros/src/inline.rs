//! The inline modules of a file, as far as its braces show them.
//!
//! Items that are generated for a flow have separate names in each module, so that they do not
//! clash with those from `use super::*`: rustc refuses a name that is both generated and imported
//! by a glob.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use proc_macro2::{LineColumn, Span};

/// An inline module: `mod name { … }`.
struct Module {
    name: String,
    begins: LineColumn,
    ends: LineColumn,
}

/// A file whose modules are known.
struct File {
    path: PathBuf,
    modules: Vec<Module>,
}

/// The file of the last flow: most flows of a crate come file by file.
static LAST: Mutex<Option<Arc<File>>> = Mutex::new(None);

/// The names of the inline modules around a place, from the outermost on. Empty if the file cannot
/// be read.
pub(crate) fn around(place: Span) -> Vec<String> {
    let Some(file) = file_of(place) else {
        return Vec::new();
    };
    let at = place.start();
    let around = file.modules.iter();
    let around = around.filter(|module| module.begins <= at && at < module.ends);
    let mut around: Vec<&Module> = around.collect();
    around.sort_by_key(|module| module.begins);
    around
        .into_iter()
        .map(|module| module.name.clone())
        .collect()
}

fn file_of(place: Span) -> Option<Arc<File>> {
    let path = place.local_file()?;
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(file) = last.as_ref().filter(|file| file.path == path) {
        return Some(Arc::clone(file));
    }
    let text = std::fs::read_to_string(&path).ok()?;
    let file = Arc::new(File {
        path,
        modules: modules(&text),
    });
    *last = Some(Arc::clone(&file));
    Some(file)
}

/// The inline modules of a text. One that is not closed is left out.
fn modules(text: &str) -> Vec<Module> {
    let mut reader = Reader {
        rest: text,
        at: LineColumn { line: 1, column: 0 },
    };
    let mut modules = Vec::new();
    // For each open brace, the module that it begins.
    let mut open: Vec<Option<(String, LineColumn)>> = Vec::new();
    let (mut before, mut last) = (String::new(), String::new());
    while let Some(token) = reader.token() {
        match token {
            "{" => open.push((before == "mod").then(|| (last.clone(), reader.at))),
            "}" => {
                if let Some(Some((name, begins))) = open.pop() {
                    let ends = reader.at;
                    modules.push(Module { name, begins, ends });
                }
            }
            _ => {}
        }
        before = std::mem::replace(&mut last, token.to_owned());
    }
    modules
}

/// Reads a text token by token: a word, or a letter outside of words. Skips comments, spaces and
/// literals with quotes.
struct Reader<'a> {
    rest: &'a str,
    at: LineColumn,
}

impl<'a> Reader<'a> {
    fn token(&mut self) -> Option<&'a str> {
        loop {
            let first = self.rest.chars().next()?;
            let length = if first.is_whitespace() {
                first.len_utf8()
            } else if let Some(length) = passed_over(self.rest) {
                length
            } else {
                let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
                let word = self.rest.find(|letter| !is_word(letter));
                let word = word.unwrap_or(self.rest.len());
                return Some(self.take(word.max(first.len_utf8())));
            };
            self.take(length);
        }
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        for letter in taken.chars() {
            if letter == '\n' {
                self.at.line += 1;
                self.at.column = 0;
            } else {
                self.at.column += 1;
            }
        }
        taken
    }
}

/// The length of the comment or the quoted literal with which a text begins.
fn passed_over(text: &str) -> Option<usize> {
    let until = |end: &str, from: usize| {
        let found = text[from..].find(end);
        found.map_or(text.len(), |at| from + at + end.len())
    };
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return Some(nested_comment(text));
    }
    let raw = text.strip_prefix('b').unwrap_or(text);
    if let Some(raw) = raw.strip_prefix('r') {
        let marks = raw.len() - raw.trim_start_matches('#').len();
        if raw[marks..].starts_with('"') {
            let begun = text.len() - raw.len() + marks + 1;
            return Some(until(&format!("\"{}", "#".repeat(marks)), begun));
        }
    }
    match text.as_bytes() {
        [b'"', ..] => Some(quoted(text, '"')),
        [b'\'', b'\\', ..] => Some(quoted(text, '\'')),
        [b'\'', ..] => {
            // A lifetime has no second quote.
            let mut letters = text[1..].chars();
            let letter = letters.next()?;
            (letters.next() == Some('\'')).then(|| letter.len_utf8() + 2)
        }
        _ => None,
    }
}

/// The length of a literal up to its second quote.
fn quoted(text: &str, quote: char) -> usize {
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' {
            letters.next();
        } else if letter == quote {
            return at + 1;
        }
    }
    text.len()
}

/// The length of a comment, with those within it.
fn nested_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest.starts_with(b"*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_found_in_whatever_is_around_them() {
        let text = r####"
//! mod a {
const A: &str = "mod b { \" "; const B: &str = r#"mod c { " "#; const C: char = '{'; const D: u8 = b'\'';
pub mod outer { /* mod d { /* { */ } */
    fn f<'a>(x: &'a str) { match x { _ => {} } }
    pub(crate) mod inner { fn g() {} }
}
mod elsewhere;
mod last { }
mod never_closed {
"####;
        let found: Vec<_> = modules(text)
            .into_iter()
            .map(|one| (one.name, one.begins.line, one.ends.line))
            .collect();
        let expected = [("inner", 6, 6), ("outer", 4, 7), ("last", 9, 9)];
        assert_eq!(
            found,
            expected.map(|(name, from, to)| (name.to_owned(), from, to))
        );
    }
}
